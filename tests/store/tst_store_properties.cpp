// SPDX-License-Identifier: Apache-2.0
// Random lives of a store: steps, checkpoints, evictions, closings, kills and reboots in any order. After each opening
// the rows are those of plain memory at the step that FORMAT.md's table of recoveries promises.
//
// RC_PARAMS="max_success=1000 max_size=100" makes it longer; the seed is printed, and a failure says how to repeat it.
#include <rapidcheck.h>

#include <QtTest>
#include <cstdlib>
#include <deque>
#include <iostream>

#include "store_harness.h"

using namespace dsa;

namespace {

/// What can be done to a store. A new one (a budget, another engine) is a value here, its line in carryOut(), and what
/// it promises in the model.
enum class Deed { step, steps, announce, checkpoint, evict, close, kill, reboot };
constexpr int kDeeds = 8;

struct Command {
  Deed deed = Deed::step;
  bool power = false;  ///< close, kill, reboot: what the next opening asks for
};

std::ostream& operator<<(std::ostream& out, const Command& command) {
  static constexpr const char* kNames[kDeeds] = {"step",  "steps", "announce", "checkpoint",
                                                 "evict", "close", "kill",     "reboot"};
  out << kNames[static_cast<int>(command.deed)];
  if (command.deed >= Deed::close) out << (command.power ? " power" : " process");
  return out;
}

struct Model {
  std::uint64_t step = 0;        ///< what a kill leads to
  std::uint64_t checkpoint = 0;  ///< what a power loss leads to
  bool power = false;
};

/// One life. Every step is followed by a look at the step count, every opening by one at all rows.
class Life {
 public:
  explicit Life(bool power) {
    m_model.power = power;
    RC_ASSERT(RowStore::create(folder(), m_shape).has_value());
    open(Recovery::clean);
  }
  ~Life() { overrideBootId(""); }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  void carryOut(const Command& command) {
    switch (command.deed) {
      case Deed::step:
        return step();
      case Deed::steps:
        for (int i = 0; i < 4; ++i) step();
        return;
      case Deed::announce:
        return announce();
      case Deed::checkpoint:
        return checkpoint();
      case Deed::evict:
        RC_ASSERT(m_store->evict().has_value());
        return compare();
      case Deed::close:
        RC_ASSERT(m_store->close().has_value());
        m_model.power = command.power;
        return open(Recovery::clean);
      case Deed::kill:
        m_model.power = command.power;
        return open(Recovery::lastStep);
      case Deed::reboot: {
        const Recovery expected = m_model.power ? Recovery::lastCheckpoint : Recovery::fromStart;
        m_model.step = m_model.power ? m_model.checkpoint : 0;
        m_model.power = command.power;
        ++m_boot;
        return open(expected);
      }
    }
  }

 private:
  [[nodiscard]] std::string folder() const { return m_dir.path().toStdString() + "/run"; }

  void open(Recovery expected) {
    m_store.reset();  // without close(): as a kill leaves it
    m_tickets.clear();
    overrideBootId(fmt::format("00000000-0000-0000-0000-{:012x}", m_boot));
    auto store = RowStore::open(folder(), m_model.power ? Durability::power : Durability::process, harness::kernels());
    if (!store) RC_FAIL(store.error().message);
    m_store = std::move(*store);
    RC_ASSERT(m_store->recovery() == expected);
    m_model.checkpoint = m_model.step;
    compare();
  }

  /// Ahead of time, as the look-ahead does; what is queued when the store goes is lost.
  void announce() {
    if (!m_model.power) return;
    for (int i = 0; i < 3; ++i)
      m_tickets.push_back(m_store->announce(harness::stepRows(m_shape, m_model.step + m_tickets.size() + 1)));
  }
  void step() {
    std::uint64_t ticket = 0;
    if (!m_tickets.empty()) {
      ticket = m_tickets.front();
      m_tickets.pop_front();
    }
    const auto done = harness::advance(*m_store, m_pool, ticket);
    if (!done) RC_FAIL(done.error().message);
    RC_ASSERT(m_store->step() == ++m_model.step);
  }
  /// Tickets from before it stay in the queue on purpose: apply() announces such a step again.
  void checkpoint() {
    RC_ASSERT(m_store->checkpoint().has_value());
    m_model.checkpoint = m_model.step;
  }
  void compare() {
    if (m_memory.step() > m_model.step) m_memory = harness::Memory(m_shape);
    m_memory.advanceTo(m_model.step);
    RC_ASSERT(m_memory.compare(*m_store) == std::string());
  }

  QTemporaryDir m_dir;
  const StoreShape m_shape = harness::shape(300, 4);
  harness::Memory m_memory{m_shape};
  ThreadPool m_pool{2};
  Model m_model;
  std::uint64_t m_boot = 1;
  std::deque<std::uint64_t> m_tickets;
  std::unique_ptr<RowStore> m_store;
};

}  // namespace

namespace rc {
template <>
struct Arbitrary<Command> {
  static Gen<Command> arbitrary() {
    // Steps more often than all the rest, or there is nothing to lose.
    return gen::build<Command>(gen::set(&Command::deed, gen::weightedElement<Deed>({{8, Deed::step},
                                                                                    {4, Deed::steps},
                                                                                    {3, Deed::announce},
                                                                                    {3, Deed::checkpoint},
                                                                                    {1, Deed::evict},
                                                                                    {1, Deed::close},
                                                                                    {2, Deed::kill},
                                                                                    {2, Deed::reboot}})),
                               gen::set(&Command::power));
  }
};
}  // namespace rc

class tst_store_properties : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
    // About 10 s on two busy cores: opening syncs a dozen times.
    ::setenv("RC_PARAMS", "max_success=250 max_size=60", 0);
  }
  void anyLifeEndsInTheRowsThatItsRecoveryPromises() {
    QVERIFY(rc::check([](const std::vector<Command>& life, bool power) {
      Life store(power);
      std::size_t losses = 0;
      for (const Command& command : life) {
        store.carryOut(command);
        losses += command.deed == Deed::kill || command.deed == Deed::reboot ? 1 : 0;
      }
      store.carryOut({Deed::close, power});
      RC_CLASSIFY(losses > 2);
    }));
  }
};

QTEST_APPLESS_MAIN(tst_store_properties)
#include "tst_store_properties.moc"
