// SPDX-License-Identifier: Apache-2.0
#include "core/eval/card_ranking.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/eval/ranking.h"
#include "core/optim/card_work.h"

namespace dsa {

Result<std::unique_ptr<CardRankMemory>> CardRankMemory::make(const CardRankShape& shape,
                                                             const std::shared_ptr<Device>& device) {
  auto memory = std::make_unique<CardRankMemory>();
  memory->m_device = device;
  memory->m_shape = shape;
  memory->m_layout = cardRankLayout(shape);
  const CardRankBytes bytes = cardRankBytes(shape);
  DSA_ASSIGN(memory->m_pieces, device->allocate(bytes.pieces, Purpose::workspace));
  if (bytes.blocks > 0) {
    DSA_ASSIGN(memory->m_blocks, device->allocate(bytes.blocks, Purpose::workspace));
  }
  if (device->card() == nullptr) return memory;
  DSA_ASSIGN(memory->m_hostPieces, PinnedBuffer::make(device->card(), bytes.pieces));
  if (bytes.blocks > 0) {
    DSA_ASSIGN(memory->m_hostBlocks, PinnedBuffer::make(device->card(), bytes.blocks));
  }
  return memory;
}

namespace {

static_assert(sizeof(RankQuery) == 32 && sizeof(RankAnswer) == 8, "parts of CardRankLayout");

/// Rows come in blocks, queries in pieces; a piece is made, and sent, while the card counts the one before it.
class CardRanking final : public Ranking {
 public:
  CardRanking(const RankJob& job, const QuerySet& set, ThreadPool& pool)
      // Blocks are not of this process's private budget but of the run's device memory.
      : Ranking(job, set, pool, job.card->layout().blockRows, 0),
        m_memory(*job.card),
        m_layout(m_memory.layout()),
        m_card(*m_memory.card()) {}

  ~CardRanking() override {
    // Copies from and to what is used again.
    static_cast<void>(m_card.wait(Card::Stream::copy));
    static_cast<void>(m_card.wait(Card::Stream::compute));
  }

 private:
  /// Levels [begin, begin + count) of the chunk's i-th group; a group with more answers than a piece has several.
  struct Share {
    std::uint64_t group = 0;
    std::uint64_t begin = 0;
    std::uint64_t count = 0;
  };
  struct Piece {
    std::size_t half = 0;
    std::uint64_t firstRow = 0;
    std::vector<Share> shares;
  };

  [[nodiscard]] bool onCard() const { return m_memory.entities.has_value(); }

  Result<void> begin() override {
    if (onCard()) return checkTables();
    return isResident() ? sendBlock(0) : Result<void>();
  }

  /// What CheckedRows does with rows that come through the processor.
  Result<void> checkTables() {
    auto* const bad = at<std::uint64_t>(m_memory.hostPiece(0), m_layout.notFinite);
    bad[0] = bad[1] = kNoBadRow;
    DSA_TRY(send(m_layout.notFinite, 0));
    for (std::uint32_t t = 0; t < (m_memory.relations ? 2u : 1u); ++t) {
      const CardTable& table = t == 0 ? *m_memory.entities : *m_memory.relations;
      FindBadRow work;
      work.rows = table.records;
      work.stride = table.stride;
      work.count = t == 0 ? m_entities.rows() : m_relations.rows();
      work.first = at<std::uint64_t>(m_memory.cardPiece(0), m_layout.notFinite) + t;
      work.ballK = t == 0 && m_job.onBall ? m_job.k : 0;
      work.dim = dim();
      DSA_TRY(m_card.launch({work}, Card::Stream::compute));
    }
    DSA_TRY(receive(m_layout.notFinite, 0));
    DSA_TRY(m_card.wait(Card::Stream::compute));
    std::vector<float> row(dim());
    if (bad[0] != kNoBadRow) m_entities.read(bad[0], 1, row.data(), m_fault);
    if (bad[1] != kNoBadRow) m_relations.read(bad[1], 1, row.data(), m_fault);
    return agreed(bad[0] == kNoBadRow && bad[1] == kNoBadRow);
  }

  Result<void> scoreAnswers() override {
    if (!onCard()) return scoreAnswersHere(isResident() ? m_memory.hostBlock(0) : nullptr);
    const auto last = m_chunk.ranks.size();
    std::uint64_t group = 0;
    for (std::uint64_t first = 0; first < last;) {
      if (mustEnd()) break;
      // As many answers as fit, of at most so many groups.
      auto* const queries = at<RankQuery>(m_memory.hostPiece(0), m_layout.queries);
      auto* const answers = at<RankAnswer>(m_memory.hostPiece(0), m_layout.answers);
      std::uint64_t count = 0;
      std::uint32_t asked = 0;
      for (; asked < m_memory.shape().queries && group < m_chunk.groupCount; ++asked) {
        const std::span<const std::uint32_t> targets = m_set.targetsOf(m_chunk.firstGroup + group);
        DSA_CHECK(groupOf(group).fixed < m_entities.rows() && targets.back() < m_entities.rows());
        queries[asked] = queryOf({group, 0, 1}, 0, asked);
        std::uint64_t t = first + count - offsetOf(group);
        for (; t < targets.size() && count < m_memory.shape().answers; ++t) answers[count++] = {asked, targets[t]};
        if (t < targets.size()) break;
        ++group;
      }
      DSA_TRY(send(m_layout.answers, 0));
      DSA_TRY(send(m_layout.queries, 0));
      ScoreAnswers work;
      work.ask = ask(0);
      work.rows = {m_memory.entities->records, m_memory.entities->stride};
      work.answers = at<RankAnswer>(m_memory.cardPiece(0), m_layout.answers);
      work.scores = at<double>(m_memory.cardPiece(0), m_layout.levels);
      work.count = count;
      DSA_TRY(m_card.launch({work}, Card::Stream::compute));
      DSA_TRY(receive(m_layout.levels, 0));
      DSA_TRY(m_card.wait(Card::Stream::compute));
      const auto* const scores = at<double>(m_memory.hostPiece(0), m_layout.levels);
      for (std::uint64_t n = 0; n < count; ++n) {
        m_chunk.ranks[first + n].score = scores[n];
        if (scores[n] - scores[n] == 0) continue;
        offerFaultOf(queries[answers[n].query].group, answers[n].row);
        return agreed(false);
      }
      first += count;
    }
    return outcome();
  }

  Result<void> countCandidates() override {
    std::optional<Piece> before;
    for (std::uint64_t begin = 0; begin < m_entities.rows(); begin += m_blockRows) {
      if (!onCard() && !isResident()) DSA_TRY(sendBlock(begin));
      Share next;
      while (next.group < m_chunk.groupCount) {
        if (mustEnd()) return outcome();
        Piece piece = takePiece(next);
        piece.firstRow = begin;
        DSA_TRY(sendPiece(piece));
        if (before) DSA_TRY(collect(*before));
        DSA_TRY(launch(piece));
        before = std::move(piece);
      }
    }
    DSA_TRY(collect(*before));
    return outcome();
  }

  template <class T>
  static T* at(std::byte* memory, const CardPart& part) {
    return reinterpret_cast<T*>(memory + part.offset);
  }
  Result<void> send(const CardPart& part, std::size_t half) {
    return m_card.copy(m_memory.cardPiece(half) + part.offset, m_memory.hostPiece(half) + part.offset, part.bytes,
                       Card::Copy::toCard, Card::Stream::compute);
  }
  Result<void> receive(const CardPart& part, std::size_t half) {
    return m_card.copy(m_memory.hostPiece(half) + part.offset, m_memory.cardPiece(half) + part.offset, part.bytes,
                       Card::Copy::toHost, Card::Stream::compute);
  }

  /// The next block to the card, into the half that no kernel reads any more: those of the block before the last have
  /// been waited for.
  Result<void> sendBlock(std::uint64_t begin) {
    if (!isResident()) m_half = 1 - m_half;
    const std::uint64_t count = std::min(m_blockRows, m_entities.rows() - begin);
    DSA_TRY(load(begin, count, m_memory.hostBlock(m_half)));
    return m_card.copy(reinterpret_cast<std::byte*>(m_memory.cardBlock(m_half)),
                       reinterpret_cast<const std::byte*>(m_memory.hostBlock(m_half)), count * dim() * sizeof(float),
                       Card::Copy::toCard, Card::Stream::copy);
  }

  /// As many levels as fit from `next` on, of at most so many groups; next: where the piece after it begins.
  Piece takePiece(Share& next) {
    Piece piece;
    std::uint64_t room = m_memory.shape().answers;
    while (room > 0 && piece.shares.size() < m_memory.shape().queries && next.group < m_chunk.groupCount) {
      next.count = std::min(room, m_chunk.levelCount[next.group] - next.begin);
      room -= next.count;
      piece.shares.push_back(next);
      next.begin += next.count;
      if (next.begin == m_chunk.levelCount[next.group]) next = {next.group + 1, 0, 0};
    }
    return piece;
  }

  [[nodiscard]] RankQuery queryOf(const Share& share, std::uint32_t levelBegin, std::uint64_t place) const {
    const QueryGroup& group = groupOf(share.group);
    RankQuery query;
    // Of tables elsewhere the rows come along, fixed and relation in turn.
    query.fixed = onCard() ? group.fixed : place * 2;
    query.relation = onCard() ? group.relation : place * 2 + 1;
    query.levelBegin = levelBegin;
    query.levelCount = static_cast<std::uint32_t>(share.count);
    query.heads = group.candidatesAreHeads ? 1 : 0;
    query.group = static_cast<std::uint32_t>(share.group);
    return query;
  }

  /// The piece to its half of the card's memory, on the copy stream.
  Result<void> sendPiece(Piece& piece) {
    m_pieceHalf = 1 - m_pieceHalf;
    piece.half = m_pieceHalf;
    std::byte* const memory = m_memory.hostPiece(piece.half);
    std::memset(memory, 0, m_layout.resultBytes);
    at<std::uint64_t>(memory, m_layout.notFinite)[0] = kNoBadRow;
    auto* const queries = at<RankQuery>(memory, m_layout.queries);
    auto* const levels = at<double>(memory, m_layout.levels);
    auto* const rows = at<float>(memory, m_layout.queryRows);
    std::uint32_t level = 0;
    for (std::size_t q = 0; q < piece.shares.size(); ++q) {
      const Share& share = piece.shares[q];
      queries[q] = queryOf(share, level, q);
      std::copy_n(m_chunk.levels.data() + offsetOf(share.group) + share.begin, share.count, levels + level);
      level += static_cast<std::uint32_t>(share.count);
      if (!onCard()) std::copy_n(fixedRow(share.group), 2 * dim(), rows + q * 2 * dim());
    }
    hide(piece, at<std::uint64_t>(memory, m_layout.hidden));
    const std::uint64_t bytes = m_layout.hidden.offset + piece.shares.size() * hiddenWords() * sizeof(std::uint64_t);
    return m_card.copy(m_memory.cardPiece(piece.half), memory, bytes, Card::Copy::toCard, Card::Stream::copy);
  }

  [[nodiscard]] std::uint64_t hiddenWords() const { return m_layout.blockRows / 64; }

  void hide(const Piece& piece, std::uint64_t* masks) {
    m_pool.parallelFor(piece.shares.size(), 16, [&](std::uint64_t from, std::uint64_t to, unsigned) {
      for (std::uint64_t q = from; q < to; ++q) {
        std::uint64_t* const mask = masks + q * hiddenWords();
        std::fill_n(mask, hiddenWords(), 0);
        const std::span<const std::uint32_t> hidden = m_set.hiddenOf(m_chunk.firstGroup + piece.shares[q].group);
        const std::uint64_t end = piece.firstRow + m_blockRows;
        for (auto id = std::lower_bound(hidden.begin(), hidden.end(), piece.firstRow); id != hidden.end() && *id < end;
             ++id) {
          const std::uint64_t place = *id - piece.firstRow;
          mask[place / 64] |= std::uint64_t{1} << place % 64;
        }
      }
    });
  }

  [[nodiscard]] RankQueries ask(std::size_t half) const {
    RankQueries queries;
    queries.model = m_job.model;
    if (onCard()) {
      queries.fixed = {m_memory.entities->records, m_memory.entities->stride};
      if (m_memory.relations) queries.relations = {m_memory.relations->records, m_memory.relations->stride};
    } else {
      queries.fixed = {at<float>(m_memory.cardPiece(half), m_layout.queryRows), dim()};
      if (m_job.relations != nullptr) queries.relations = queries.fixed;
    }
    queries.queries = at<RankQuery>(m_memory.cardPiece(half), m_layout.queries);
    queries.k = m_job.k;
    queries.dim = dim();
    return queries;
  }

  /// After what the copy stream has; the counts come back on the compute stream.
  Result<void> launch(const Piece& piece) {
    std::byte* const memory = m_memory.cardPiece(piece.half);
    CountCandidates work;
    work.ask = ask(piece.half);
    work.candidates = onCard() ? RowsInPlace{m_memory.entities->records + piece.firstRow * m_memory.entities->stride,
                                             m_memory.entities->stride}
                               : RowsInPlace{m_memory.cardBlock(m_half), dim()};
    work.firstRow = piece.firstRow;
    work.levels = at<double>(memory, m_layout.levels);
    work.hidden = at<std::uint64_t>(memory, m_layout.hidden);
    work.above = at<std::uint64_t>(memory, m_layout.above);
    work.equal = at<std::uint64_t>(memory, m_layout.equal);
    work.notFinite = at<std::uint64_t>(memory, m_layout.notFinite);
    work.hiddenWords = hiddenWords();
    work.queries = static_cast<std::uint32_t>(piece.shares.size());
    work.candidateCount = static_cast<std::uint32_t>(std::min(m_blockRows, m_entities.rows() - piece.firstRow));
    DSA_TRY(m_card.order(Card::Stream::copy, Card::Stream::compute));
    DSA_TRY(m_card.launch({work}, Card::Stream::compute));
    return receive({0, m_layout.resultBytes}, piece.half);
  }

  /// Waits for the piece and adds up its counts.
  Result<void> collect(const Piece& piece) {
    DSA_TRY(m_card.wait(Card::Stream::compute));
    std::byte* const memory = m_memory.hostPiece(piece.half);
    const std::uint64_t bad = *at<std::uint64_t>(memory, m_layout.notFinite);
    if (bad != kNoBadRow) {
      offerFaultOf(piece.shares[bad & 0xffffffffu].group, bad >> 32);
      return agreed(false);
    }
    const auto* above = at<std::uint64_t>(memory, m_layout.above);
    const auto* equal = at<std::uint64_t>(memory, m_layout.equal);
    for (const Share& share : piece.shares) {
      const std::uint64_t to = offsetOf(share.group) + share.begin;
      std::uint64_t higher = 0;  // finishCounts()
      for (std::uint64_t i = share.count; i-- > 0;) {
        higher += above[i];
        m_chunk.above[to + i] += higher;
        m_chunk.equal[to + i] += equal[i];
        higher += equal[i];
      }
      above += share.count;
      equal += share.count;
    }
    return {};
  }

  /// The outcome; where the card found a fault that the processor does not see, the card's.
  [[nodiscard]] Result<void> agreed(bool good) const {
    DSA_TRY(outcome());
    if (good) return {};
    return fail(ErrorCode::machine,
                "{}: it scores rows as not finite that are finite for the processor, so its figures cannot be "
                "believed; nothing was measured, and the table is as it was. Evaluate on the processor (dsa eval)",
                m_card.name());
  }

  const CardRankMemory& m_memory;
  const CardRankLayout& m_layout;
  Card& m_card;
  std::size_t m_half = 0;       // of the blocks
  std::size_t m_pieceHalf = 0;  // of the pieces
};

}  // namespace

Result<void> rankOnCard(const RankJob& job, const QuerySet& set, ThreadPool& pool, const RankSink& sink) {
  return CardRanking(job, set, pool).run(sink);
}

}  // namespace dsa
