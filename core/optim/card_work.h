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

/// Item i: the weights of row ids[i] to out + i * dim.
struct GatherRows {
  const float* records = nullptr;
  std::uint64_t stride = 0;
  const std::uint64_t* ids = nullptr;
  std::uint64_t count = 0;
  float* out = nullptr;
  std::uint32_t dim = 0;
};

/// Rows that lie one stride of floats apart.
struct RowsInPlace {
  const float* first = nullptr;
  std::uint64_t stride = 0;
  [[nodiscard]] DSA_HOST_DEVICE const float* row(std::uint64_t i) const { return first + i * stride; }
};

/// One table's part of a batch (BatchIndex).
struct BatchTable {
  RowsInPlace weights;                        ///< of each row
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

/// What a number that a kernel lowers begins at.
inline constexpr std::uint64_t kNoBadRow = ~std::uint64_t{0};

/// Item i: first = min(first, i) where row i has a value that is not finite or, ballK being above 0, does not lie
/// inside the ball of that curvature.
struct FindBadRow {
  const float* rows = nullptr;
  std::uint64_t stride = 0;
  std::uint64_t count = 0;
  std::uint64_t* first = nullptr;
  double ballK = 0;
  std::uint32_t dim = 0;
};

/// Item i: one step of row ids[i], or row i where ids is null, with gradient i. ids distinct, gradients finite.
struct UpdateRowsWork {
  StepParams params;
  float* records = nullptr;
  std::uint64_t stride = 0;
  const std::uint64_t* ids = nullptr;
  const float* grads = nullptr;  ///< [count x dim]
  std::uint64_t count = 0;
};

/// A query of an evaluation (QueryGroup), or some of its answers' scores.
struct RankQuery {
  std::uint64_t fixed = 0;       ///< row of RankQueries::fixed
  std::uint64_t relation = 0;    ///< row of RankQueries::relations
  std::uint32_t levelBegin = 0;  ///< into the levels of the piece
  std::uint32_t levelCount = 0;  ///< at least 1
  std::uint32_t heads = 0;       ///< 1: the candidates are heads
  std::uint32_t group = 0;       ///< whose query it is, for whoever asks
};

/// What a piece of an evaluation is asked.
struct RankQueries {
  ModelKind model = ModelKind::poincare;
  RowsInPlace fixed, relations;  ///< relations: of models that have them
  const RankQuery* queries = nullptr;
  double k = 0;
  std::uint32_t dim = 0;
};

struct RankAnswer {
  std::uint32_t query = 0;
  std::uint32_t row = 0;
};

/// Item i: the score of answer i.
struct ScoreAnswers {
  RankQueries ask;
  RowsInPlace rows;
  const RankAnswer* answers = nullptr;
  double* scores = nullptr;  ///< [count]
  std::uint64_t count = 0;
};

/// Item i: kCandidatesPerItem candidates of one query, counted as countBySearch() does: equal[l] those that score level
/// l, above[l] those above it and below the next. notFinite[0] = min(row << 32 | query) of scores that are not finite.
struct CountCandidates {
  RankQueries ask;
  RowsInPlace candidates;
  std::uint64_t firstRow = 0;             ///< number of candidate 0, for notFinite
  const double* levels = nullptr;         ///< ascending in a query
  const std::uint64_t* hidden = nullptr;  ///< [queries x hiddenWords] bits of the candidates not to be counted
  std::uint64_t* above = nullptr;         ///< beside the levels
  std::uint64_t* equal = nullptr;
  std::uint64_t* notFinite = nullptr;
  std::uint64_t hiddenWords = 0;
  std::uint32_t queries = 0;
  std::uint32_t candidateCount = 0;
};

inline constexpr std::uint32_t kCandidatesPerItem = 256;

struct CardWork {
  std::variant<FillRows, GatherRows, RunSamples, SumSlots, FindBadRow, UpdateRowsWork, ScoreAnswers, CountCandidates>
      job;
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
    const float* const record = job.records + job.ids[i] * job.stride;
    for (auto at = static_cast<std::uint32_t>(Warp::lane()); at < job.dim; at += kThreadsPerWarp)
      job.out[i * job.dim + at] = record[at];
  }
};

DSA_HOST_DEVICE inline float* slotGradient(const BatchTable& table, std::uint32_t slot, std::uint32_t dim) {
  const std::uint32_t row = table.rowOfSlot[slot];
  return table.rowStart[row + 1] - table.rowStart[row] == 1 ? table.rowGradients + std::uint64_t{row} * dim
                                                            : table.slotGradients + std::uint64_t{slot} * dim;
}

/// The weights of a batch's slots from `firstSlot` on.
struct SlotRows {
  const BatchTable* table;
  std::uint32_t firstSlot;
  [[nodiscard]] DSA_HOST_DEVICE const float* row(std::uint64_t i) const {
    return table->weights.row(table->rowOfSlot[firstSlot + i]);
  }
};

/// What a model asks of SampleRows, without an array of pointers. Rows: SlotRows, RowsInPlace.
template <class Rows>
struct CardSample {
  Rows candidates;
  const float* fixed;
  const float* relation;
  std::uint32_t count;
  std::uint32_t dim;
  double k;
  bool candidatesAreHeads;
  [[nodiscard]] DSA_HOST_DEVICE const float* candidate(std::uint32_t c) const { return candidates.row(c); }
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
    const bool relations = job.relations.weights.first != nullptr;
    const CardSample<SlotRows> rows{SlotRows{&job.entities, first + 1},
                                    SlotRows{&job.entities, first}.row(0),
                                    relations ? SlotRows{&job.relations, sample}.row(0) : nullptr,
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
struct FindBadRowBody {
  FindBadRow job;
  DSA_HOST_DEVICE void operator()(std::uint64_t i) const {
    const float* const row = job.rows + i * job.stride;
    for (auto at = static_cast<std::uint32_t>(Warp::lane()); at < job.dim; at += kThreadsPerWarp) {
      if (!(row[at] - row[at] == 0.0f)) Warp::least(job.first, i);
    }
    if (!(job.ballK > 0)) return;
    // CheckedRows: the distance from the centre.
    const Sum square = squaredNorm<WarpLanes<Warp>>(row, job.dim);
    const double distance = ballDistance(job.ballK, valueOf(square), 1.0, oneMinus(job.ballK, square));
    if (!(distance - distance == 0.0) && Warp::lane() == 0) Warp::least(job.first, i);
  }
};

template <class Warp, template <class> class RuleOnRow>
struct UpdateRowsBody {
  UpdateRowsWork job;
  DSA_HOST_DEVICE void operator()(std::uint64_t i) const {
    const auto rule = RuleOnRow<WarpLanes<Warp>>::make(job.params);
    rule(job.records + (job.ids != nullptr ? job.ids[i] : i) * job.stride, job.grads + i * job.params.dim);
  }
};

/// The query against `count` rows from `first` on.
DSA_HOST_DEVICE inline CardSample<RowsInPlace> rankSample(const RankQueries& ask, const RankQuery& query,
                                                          const RowsInPlace& rows, std::uint64_t first,
                                                          std::uint32_t count) {
  return {{rows.row(first), rows.stride},
          ask.fixed.row(query.fixed),
          ask.relations.first != nullptr ? ask.relations.row(query.relation) : nullptr,
          count,
          ask.dim,
          ask.k,
          query.heads != 0};
}

template <class Warp, template <class> class Model>
struct ScoreAnswersBody {
  ScoreAnswers job;
  DSA_HOST_DEVICE void operator()(std::uint64_t i) const {
    const RankAnswer answer = job.answers[i];
    Model<WarpLanes<Warp>>::score(rankSample(job.ask, job.ask.queries[answer.query], job.rows, answer.row, 1),
                                  job.scores + i);
  }
};

/// Of up to 32 scores, lane c keeps the c-th.
template <class Warp>
struct ScoreOfLane {
  double mine = 0;
  DSA_HOST_DEVICE void put(std::uint32_t c, double score) {
    if (static_cast<std::uint32_t>(Warp::lane()) == c) mine = score;
  }
};

template <class Warp, template <class> class Model>
struct CountCandidatesBody {
  CountCandidates job;
  DSA_HOST_DEVICE void operator()(std::uint64_t item) const {
    // Neighbours share their candidates, which are the larger part.
    const auto q = static_cast<std::uint32_t>(item % job.queries);
    const auto begin = static_cast<std::uint32_t>(item / job.queries) * kCandidatesPerItem;
    const std::uint32_t end =
        job.candidateCount - begin < kCandidatesPerItem ? job.candidateCount : begin + kCandidatesPerItem;
    const RankQuery query = job.ask.queries[q];
    const std::uint64_t* const hidden = job.hidden + q * job.hiddenWords;
    const auto lane = static_cast<std::uint32_t>(Warp::lane());
    double above = 0, equal = 0;  // of a query's only level
    for (std::uint32_t first = begin; first < end; first += kThreadsPerWarp) {
      const std::uint32_t count = end - first < kThreadsPerWarp ? end - first : kThreadsPerWarp;
      ScoreOfLane<Warp> score;
      Model<WarpLanes<Warp>>::score(rankSample(job.ask, query, job.candidates, first, count), score);
      if (lane >= count) continue;
      const std::uint32_t candidate = first + lane;
      if (!(score.mine - score.mine == 0.0)) Warp::least(job.notFinite, (job.firstRow + candidate) << 32 | q);
      if ((hidden[candidate / 64] >> candidate % 64 & 1) != 0) continue;
      if (query.levelCount == 1) {
        above += score.mine > job.levels[query.levelBegin] ? 1 : 0;
        equal += score.mine == job.levels[query.levelBegin] ? 1 : 0;
      } else {
        countOne(query, score.mine);
      }
    }
    if (query.levelCount != 1) return;
    // Exact: counts far below 2^53.
    for (int mask = kThreadsPerWarp / 2; mask > 0; mask /= 2) {
      above += Warp::shuffleXor(above, mask);
      equal += Warp::shuffleXor(equal, mask);
    }
    if (lane != 0) return;
    if (above > 0) Warp::add(job.above + query.levelBegin, static_cast<std::uint64_t>(above));
    if (equal > 0) Warp::add(job.equal + query.levelBegin, static_cast<std::uint64_t>(equal));
  }

 private:
  DSA_HOST_DEVICE void countOne(const RankQuery& query, double score) const {
    const double* const levels = job.levels + query.levelBegin;
    // The levels at or below the score.
    std::uint32_t low = 0, high = query.levelCount;
    while (low < high) {
      const std::uint32_t middle = (low + high) / 2;
      if (levels[middle] <= score) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == 0) return;
    Warp::add((levels[low - 1] == score ? job.equal : job.above) + query.levelBegin + low - 1, 1);
  }
};

/// Calls use.template operator()<Model>() with the model's template.
template <class F>
void withModel(ModelKind model, F&& use) {
  switch (model) {
    case ModelKind::poincare:
    case ModelKind::euclidean:
      return use.template operator()<DistanceModel>();
    case ModelKind::transe:
      return use.template operator()<TranslationModel>();
    case ModelKind::distmult:
      return use.template operator()<ProductModel>();
  }
}

template <class Warp, class F>
struct BodyOf {
  F& launch;
  void operator()(const FillRows& job) const { launch(FillRowsBody<Warp>{job}, job.rows); }
  void operator()(const GatherRows& job) const { launch(GatherRowsBody<Warp>{job}, job.count); }
  void operator()(const SumSlots& job) const { launch(SumSlotsBody<Warp>{job}, job.rows); }
  void operator()(const FindBadRow& job) const { launch(FindBadRowBody<Warp>{job}, job.count); }
  void operator()(const RunSamples& job) const {
    withModel(job.model,
              [&]<template <class> class Model>() { launch(RunSamplesBody<Warp, Model>{job}, job.samples); });
  }
  void operator()(const ScoreAnswers& job) const {
    withModel(job.ask.model,
              [&]<template <class> class Model>() { launch(ScoreAnswersBody<Warp, Model>{job}, job.count); });
  }
  void operator()(const CountCandidates& job) const {
    const std::uint64_t tiles = (job.candidateCount + std::uint64_t{kCandidatesPerItem} - 1) / kCandidatesPerItem;
    withModel(job.ask.model, [&]<template <class> class Model>() {
      launch(CountCandidatesBody<Warp, Model>{job}, tiles * job.queries);
    });
  }
  void operator()(const UpdateRowsWork& job) const {
    switch (job.params.rule) {
      case Rule::sparseAdam:
        return launch(UpdateRowsBody<Warp, SparseAdamRule>{job}, job.count);
      case Rule::dsa:
        return launch(UpdateRowsBody<Warp, DsaRule>{job}, job.count);
      case Rule::radam:
        return launch(UpdateRowsBody<Warp, RadamRule>{job}, job.count);
      case Rule::rsgd:
        return launch(UpdateRowsBody<Warp, RsgdRule>{job}, job.count);
      case Rule::rowAdagrad:
        return launch(UpdateRowsBody<Warp, RowAdagradRule>{job}, job.count);
    }
  }
};

/// Calls launch(body, items) with the kernel of the work; body(item) is called by all lanes of a Warp.
template <class Warp, class F>
void withBody(const CardWork& work, F&& launch) {
  std::visit(BodyOf<Warp, F>{launch}, work.job);
}

}  // namespace

}  // namespace dsa
