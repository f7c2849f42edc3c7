// SPDX-License-Identifier: Apache-2.0
// Random lives of a store: steps, checkpoints, evictions, budgets, closings, kills, reboots and changes of the engine
// in any order. After each opening the rows are those of plain memory at the step that FORMAT.md's recoveries promise.
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

/// What can be done to a store. A new one is a value here, its line in carryOut(), and what it promises in the model.
enum class Deed { step, steps, announce, checkpoint, evict, budget, close, kill, reboot };
constexpr int kDeeds = 9;

struct Command {
  Deed deed = Deed::step;
  bool power = false;   ///< close, kill, reboot: what the next opening asks for
  bool direct = false;  ///< and by which engine; budget: a large one
};

std::ostream& operator<<(std::ostream& out, const Command& command) {
  static constexpr const char* kNames[kDeeds] = {"step",   "steps", "announce", "checkpoint", "evict",
                                                 "budget", "close", "kill",     "reboot"};
  out << kNames[static_cast<int>(command.deed)];
  if (command.deed >= Deed::close) out << (command.direct ? " direct" : command.power ? " power" : " process");
  return out;
}

struct Model {
  std::uint64_t step = 0;        ///< what a kill leads to
  std::uint64_t checkpoint = 0;  ///< what a power loss leads to
  bool power = false;
  bool direct = false;
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
        RC_ASSERT((m_direct ? m_direct->evict() : m_store->evict()).has_value());
        return compare();
      case Deed::budget:
        if (!m_direct) return;
        RC_ASSERT(m_direct->setBudget(least() * (command.direct ? 3 : 1)).has_value());
        RC_ASSERT(m_direct->counters().cacheBytes <= m_direct->budget());
        return;
      case Deed::close:
        RC_ASSERT((m_direct ? m_direct->close() : m_store->close()).has_value());
        return reopen(command, Recovery::clean);
      case Deed::kill:
        if (!m_direct) return reopen(command, Recovery::lastStep);
        m_model.step = m_model.checkpoint;
        return reopen(command, Recovery::lastCheckpoint);
      case Deed::reboot: {
        const bool kept = m_model.power || m_model.direct;
        m_model.step = kept ? m_model.checkpoint : 0;
        ++m_boot;
        return reopen(command, kept ? Recovery::lastCheckpoint : Recovery::fromStart);
      }
    }
  }

 private:
  [[nodiscard]] std::string folder() const { return m_dir.path().toStdString() + "/run"; }

  [[nodiscard]] std::uint64_t least() const { return DirectStore::leastBudget(m_shape); }

  void reopen(const Command& command, Recovery expected) {
    m_model.power = command.power;
    m_model.direct = command.direct;
    open(expected);
  }

  void open(Recovery expected) {
    m_store.reset();  // without close(): as a kill leaves it
    m_direct.reset();
    m_tickets.clear();
    overrideBootId(fmt::format("00000000-0000-0000-0000-{:012x}", m_boot));
    if (m_model.direct) {
      auto store = DirectStore::open(folder(), harness::kernels(), {.budgetBytes = least()});
      if (!store) RC_FAIL(store.error().message);
      m_direct = std::move(*store);
      RC_ASSERT(m_direct->files().recovery() == expected);
    } else {
      auto store =
          RowStore::open(folder(), m_model.power ? Durability::power : Durability::process, harness::kernels());
      if (!store) RC_FAIL(store.error().message);
      m_store = std::move(*store);
      RC_ASSERT(m_store->recovery() == expected);
    }
    m_model.checkpoint = m_model.step;
    compare();
  }

  /// Ahead of time, as the look-ahead does; what is queued when the store goes is lost.
  void announce() {
    if (!m_model.power && !m_direct) return;
    for (int i = 0; i < 3; ++i) {
      StepRows rows = harness::stepRows(m_shape, m_model.step + m_tickets.size() + 1);
      m_tickets.push_back(m_direct ? m_direct->announce(std::move(rows)) : m_store->announce(rows));
    }
  }
  void step() {
    std::uint64_t ticket = 0;
    if (!m_tickets.empty()) {
      ticket = m_tickets.front();
      m_tickets.pop_front();
    }
    const auto done =
        m_direct ? harness::advance(*m_direct, m_pool, ticket) : harness::advance(*m_store, m_pool, ticket);
    if (!done) RC_FAIL(done.error().message);
    RC_ASSERT((m_direct ? m_direct->step() : m_store->step()) == ++m_model.step);
  }
  /// Tickets from before it stay in the queue on purpose: apply() announces such a step again.
  void checkpoint() {
    RC_ASSERT((m_direct ? m_direct->checkpoint() : m_store->checkpoint()).has_value());
    m_model.checkpoint = m_model.step;
  }
  void compare() {
    if (m_memory.step() > m_model.step) m_memory = harness::Memory(m_shape);
    m_memory.advanceTo(m_model.step);
    RC_ASSERT((m_direct ? m_memory.compareScanned(m_direct->files(), m_direct->step(), m_direct->state())
                        : m_memory.compare(*m_store)) == std::string());
  }

  QTemporaryDir m_dir;
  // Of 44 floats a unit of its own each, and more rows than the direct engine has places at its least budget.
  const StoreShape m_shape = harness::shape(900, 44);
  harness::Memory m_memory{m_shape};
  ThreadPool m_pool{2};
  Model m_model;
  std::uint64_t m_boot = 1;
  std::deque<std::uint64_t> m_tickets;
  std::unique_ptr<RowStore> m_store;  // one of them
  std::unique_ptr<DirectStore> m_direct;
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
                                                                                    {2, Deed::budget},
                                                                                    {1, Deed::close},
                                                                                    {2, Deed::kill},
                                                                                    {2, Deed::reboot}})),
                               gen::set(&Command::power), gen::set(&Command::direct));
  }
};
}  // namespace rc

class tst_store_properties : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
    // 20 to 60 s, as quick as the disk syncs: opening does a dozen times.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    ::setenv("RC_PARAMS", "max_success=60 max_size=60", 0);
#else
    ::setenv("RC_PARAMS", "max_success=150 max_size=60", 0);
#endif
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
