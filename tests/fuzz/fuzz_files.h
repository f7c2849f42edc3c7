// SPDX-License-Identifier: Apache-2.0
// What the store's fuzz targets share: a small store whose files are put back before each input.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/store/row_store.h"
#include "fuzz_input.h"

namespace fuzz {

inline dsa::StoreShape shape() {
  dsa::StoreShape s;
  s.seed = 7;
  s.lossCapacity = 8;
  s.tables.push_back({"entities", 40, 4, dsa::Rule::sparseAdam, 0.5f, 24});
  s.tables.push_back({"relations", 5, 3, dsa::Rule::radam, 0.25f, 5});
  return s;
}

inline const char* const kBoot = "00000000-0000-0000-0000-000000000001";

/// The next step: some rows of both tables, which a power loss or a kill would have to put right.
inline dsa::Result<void> advance(dsa::RowStore& store, dsa::ThreadPool& pool) {
  const std::uint64_t step = store.step() + 1;
  std::vector<std::uint64_t> counts;
  std::vector<dsa::StepParams> params;
  for (std::uint32_t t = 0; t < store.shape().tables.size(); ++t) {
    const dsa::TableShape& table = store.shape().tables[t];
    std::uint64_t n = 0;
    for (std::uint64_t row = step % 3; row < table.rows && n < table.stepCapacity; row += 3) store.ids(t)[n++] = row;
    for (std::uint64_t i = 0; i < n * table.dim; ++i) store.grads(t)[i] = static_cast<float>(i % 7) - 3.0f;
    dsa::StepParams p;
    p.rule = table.rule;
    p.dim = table.dim;
    params.push_back(dsa::makeStep(p, step, 0.05));
    counts.push_back(n);
  }
  return store.apply(counts, params, dsa::StateBlob{}, 0, pool);
}

/// A store of 5 steps with a checkpoint after the third, killed; its files as they were then.
class Template {
 public:
  explicit Template(const char* name) : m_folder(scratchFolder(name)) {
    dsa::overrideBootId(kBoot);
    require(dsa::RowStore::create(folder(), shape()).has_value());
    {
      auto store = dsa::RowStore::open(folder(), dsa::Durability::power, kernels());
      require(store.has_value());
      dsa::ThreadPool pool(1);
      for (int i = 1; i <= 5; ++i) {
        require(advance(**store, pool).has_value());
        if (i == 3) require((*store)->checkpoint().has_value());
      }
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder()))
      m_files[entry.path().string()] = *dsa::readTextFile(entry.path().string());
  }
  [[nodiscard]] std::string folder() const { return m_folder + "/run"; }
  [[nodiscard]] std::string file(const std::string& name) const { return m_files.at(folder() + "/" + name); }
  /// All files as they were, but `name` with these bytes.
  void put(const std::string& name, const std::string& bytes) const {
    for (const auto& [path, content] : m_files) {
      const bool changed = path == folder() + "/" + name;
      const auto file = dsa::File::open(path, dsa::File::Mode::readWrite);
      const std::string& text = changed ? bytes : content;
      require(file.has_value() && file->resize(text.size()).has_value());
      require(file->writeAt(std::as_bytes(std::span(text)), 0).has_value());
    }
  }
  static dsa::RowKernels kernels() { return dsa::rowKernels(dsa::KernelLevel::scalar); }

 private:
  std::string m_folder;
  std::map<std::string, std::string> m_files;
};

}  // namespace fuzz
