// SPDX-License-Identifier: Apache-2.0
// The kernels of a card: what each warp does with its items, once for the hardware (card_kernels.cu) and for the host
// (tests/gpu/host_card.h), over the row math and the models of every other level.
//
// Pointers are the card's. All rows are float32 [dim] unless said otherwise; a warp has one item at a time.
#pragma once

#include <cstdint>
#include <variant>

#include "core/device/cuda_launch.h"
#include "core/device/lanes_warp.h"
#include "core/model/distance_model.h"
#include "core/model/model_kind.h"
#include "core/model/product_model.h"
#include "core/model/translation_model.h"
#include "core/rows/row_init.h"
#include "core/rows/row_math.h"

namespace dsa {

/// Item i: row i of table `table` (its number in the run) gets its initial weights and zero state (initialWeights).
struct FillRows {
  float* records = nullptr;
  std::uint64_t stride = 0;  ///< floats, all of them written
  std::uint64_t rows = 0;
  std::uint64_t seed = 0;
  std::uint32_t table = 0;
  std::uint32_t dim = 0;
  float scale = 0;
};

/// Item i: the weights of row ids[i], or first + i where ids is null, to out + i * dim.
struct GatherRows {
  const float* records = nullptr;
  std::uint64_t stride = 0;
  const std::uint64_t* ids = nullptr;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  float* out = nullptr;
  std::uint32_t dim = 0;
};

/// One table's part of a batch (BatchIndex).
struct BatchTable {
  const float* weights = nullptr;             ///< [rows x dim]
  const std::uint32_t* rowOfSlot = nullptr;   ///< [slots]
  const std::uint32_t* rowStart = nullptr;    ///< [rows + 1]
  const std::uint32_t* slotsByRow = nullptr;  ///< [slots]
  float* rowGradients = nullptr;              ///< [rows x dim]
  float* slotGradients = nullptr;             ///< [slots x dim]; used for rows with several slots
};

/// Item i: loss and gradients of sample i. A row with one slot gets its gradient in place.
struct RunSamples {
  ModelKind model = ModelKind::poincare;
  BatchTable entities, relations;                ///< relations: of models that have them
  const float* sampleWeights = nullptr;          ///< [samples] or null
  const std::uint8_t* headsCorrupted = nullptr;  ///< [samples] or null
  double* losses = nullptr;                      ///< [samples]
  double* scratch = nullptr;                     ///< [samples x 4 x candidates]
  double k = 0;
  std::uint32_t samples = 0;
  std::uint32_t slotsPerSample = 0;
  std::uint32_t dim = 0;
  bool meanReduction = false;
};

/// Item i: the gradients of row i's slots, added in sample order, where it has several.
struct SumSlots {
  BatchTable table;
  std::uint64_t rows = 0;
  std::uint32_t dim = 0;
};

/// Item i: first = min(first, i) where row i of grads [rows x dim] has a value that is not finite.
struct FindNotFinite {
  const float* grads = nullptr;
  std::uint64_t rows = 0;
  std::uint64_t* first = nullptr;
  std::uint32_t dim = 0;
};

/// Item i: one step of row ids[i] with gradient i. ids distinct, gradients finite.
struct UpdateRowsWork {
  StepParams params;
  float* records = nullptr;
  std::uint64_t stride = 0;
  const std::uint64_t* ids = nullptr;
  const float* grads = nullptr;  ///< [count x dim]
  std::uint64_t count = 0;
};

struct CardWork {
  std::variant<FillRows, GatherRows, RunSamples, SumSlots, FindNotFinite, UpdateRowsWork> job;
};

namespace {

template <class Warp>
struct FillRowsBody {
  FillRows job;
  DSA_HOST_DEVICE void operator()(std::uint64_t row) const {
    float* const record = job.records + row * job.stride;
    const auto lane = static_cast<std::uint32_t>(Warp::lane());
    for (std::uint32_t i = lane * 4; i < job.dim; i += kThreadsPerWarp * 4)
      initialFour(job.seed, job.table, row, i, job.dim, job.scale, record);
    for (std::uint64_t i = job.dim + lane; i < job.stride; i += kThreadsPerWarp) record[i] = 0.0f;
  }
};

template <class Warp>
struct GatherRowsBody {
  GatherRows job;
  DSA_HOST_DEVICE void operator()(std::uint64_t i) const {
    const float* const record = job.records + (job.ids != nullptr ? job.ids[i] : job.first + i) * job.stride;
    for (auto at = static_cast<std::uint32_t>(Warp::lane()); at < job.dim; at += kThreadsPerWarp)
      job.out[i * job.dim + at] = record[at];
  }
};

DSA_HOST_DEVICE inline float* slotGradient(const BatchTable& table, std::uint32_t slot, std::uint32_t dim) {
  const std::uint32_t row = table.rowOfSlot[slot];
  return table.rowStart[row + 1] - table.rowStart[row] == 1 ? table.rowGradients + std::uint64_t{row} * dim
                                                            : table.slotGradients + std::uint64_t{slot} * dim;
}

DSA_HOST_DEVICE inline const float* slotWeights(const BatchTable& table, std::uint32_t slot, std::uint32_t dim) {
  return table.weights + std::uint64_t{table.rowOfSlot[slot]} * dim;
}

/// What a model asks of SampleRows, without an array of pointers.
struct CardSample {
  const BatchTable* table;
  std::uint32_t firstCandidate;
  const float* fixed;
  const float* relation;
  std::uint32_t count;
  std::uint32_t dim;
  double k;
  bool candidatesAreHeads;
  [[nodiscard]] DSA_HOST_DEVICE const float* candidate(std::uint32_t c) const {
    return slotWeights(*table, firstCandidate + c, dim);
  }
};

struct CardGradients {
  const BatchTable* table;
  std::uint32_t firstCandidate;
  float* fixed;
  float* relation;
  std::uint32_t dim;
  [[nodiscard]] DSA_HOST_DEVICE float* candidate(std::uint32_t c) const {
    return slotGradient(*table, firstCandidate + c, dim);
  }
};

template <class Warp, template <class> class Model>
struct RunSamplesBody {
  RunSamples job;
  DSA_HOST_DEVICE void operator()(std::uint64_t item) const {
    const auto sample = static_cast<std::uint32_t>(item);
    const std::uint32_t first = sample * job.slotsPerSample;
    const std::uint32_t candidates = job.slotsPerSample - 1;
    const bool relations = job.relations.weights != nullptr;
    const CardSample rows{&job.entities,
                          first + 1,
                          slotWeights(job.entities, first, job.dim),
                          relations ? slotWeights(job.relations, sample, job.dim) : nullptr,
                          candidates,
                          job.dim,
                          job.k,
                          job.headsCorrupted != nullptr && job.headsCorrupted[sample] != 0};
    const CardGradients out{&job.entities, first + 1, slotGradient(job.entities, first, job.dim),
                            relations ? slotGradient(job.relations, sample, job.dim) : nullptr, job.dim};
    const double weight = job.sampleWeights == nullptr ? 1.0 : static_cast<double>(job.sampleWeights[sample]);
    const double scale = job.meanReduction ? weight / job.samples : weight;
    const double loss =
        Model<WarpLanes<Warp>>::sample(rows, out, scale, job.scratch + std::uint64_t{sample} * 4 * candidates);
    if (Warp::lane() == 0) job.losses[sample] = loss;
  }
};

template <class Warp>
struct SumSlotsBody {
  SumSlots job;
  DSA_HOST_DEVICE void operator()(std::uint64_t row) const {
    const std::uint32_t from = job.table.rowStart[row];
    const std::uint32_t to = job.table.rowStart[row + 1];
    if (to - from == 1) return;
    float* const sums = job.table.rowGradients + row * job.dim;
    for (auto i = static_cast<std::uint32_t>(Warp::lane()); i < job.dim; i += kThreadsPerWarp) {
      const auto of = [&](std::uint32_t s) {
        return job.table.slotGradients[std::uint64_t{job.table.slotsByRow[s]} * job.dim + i];
      };
      float sum = of(from);
      for (std::uint32_t s = from + 1; s < to; ++s) sum += of(s);
      sums[i] = sum;
    }
  }
};

template <class Warp>
struct FindNotFiniteBody {
  FindNotFinite job;
  DSA_HOST_DEVICE void operator()(std::uint64_t row) const {
    for (auto i = static_cast<std::uint32_t>(Warp::lane()); i < job.dim; i += kThreadsPerWarp) {
      const float value = job.grads[row * job.dim + i];
      if (!(value - value == 0.0f)) Warp::least(job.first, row);
    }
  }
};

template <class Warp, template <class> class RuleOnRow>
struct UpdateRowsBody {
  UpdateRowsWork job;
  DSA_HOST_DEVICE void operator()(std::uint64_t i) const {
    const auto rule = RuleOnRow<WarpLanes<Warp>>::make(job.params);
    rule(job.records + job.ids[i] * job.stride, job.grads + i * job.params.dim);
  }
};

/// Calls launch(body, items) with the kernel of the work; body(item) is called by all lanes of a Warp.
template <class Warp, class F>
void withBody(const CardWork& work, F&& launch) {
  if (const auto* fill = std::get_if<FillRows>(&work.job)) {
    launch(FillRowsBody<Warp>{*fill}, fill->rows);
  } else if (const auto* gather = std::get_if<GatherRows>(&work.job)) {
    launch(GatherRowsBody<Warp>{*gather}, gather->count);
  } else if (const auto* sum = std::get_if<SumSlots>(&work.job)) {
    launch(SumSlotsBody<Warp>{*sum}, sum->rows);
  } else if (const auto* find = std::get_if<FindNotFinite>(&work.job)) {
    launch(FindNotFiniteBody<Warp>{*find}, find->rows);
  } else if (const auto* samples = std::get_if<RunSamples>(&work.job)) {
    switch (samples->model) {
      case ModelKind::poincare:
      case ModelKind::euclidean:
        launch(RunSamplesBody<Warp, DistanceModel>{*samples}, samples->samples);
        break;
      case ModelKind::transe:
        launch(RunSamplesBody<Warp, TranslationModel>{*samples}, samples->samples);
        break;
      case ModelKind::distmult:
        launch(RunSamplesBody<Warp, ProductModel>{*samples}, samples->samples);
        break;
    }
  } else if (const auto* update = std::get_if<UpdateRowsWork>(&work.job)) {
    switch (update->params.rule) {
      case Rule::sparseAdam:
        launch(UpdateRowsBody<Warp, SparseAdamRule>{*update}, update->count);
        break;
      case Rule::dsa:
        launch(UpdateRowsBody<Warp, DsaRule>{*update}, update->count);
        break;
      case Rule::radam:
        launch(UpdateRowsBody<Warp, RadamRule>{*update}, update->count);
        break;
      case Rule::rsgd:
        launch(UpdateRowsBody<Warp, RsgdRule>{*update}, update->count);
        break;
      case Rule::rowAdagrad:
        launch(UpdateRowsBody<Warp, RowAdagradRule>{*update}, update->count);
        break;
    }
  }
}

}  // namespace

}  // namespace dsa
