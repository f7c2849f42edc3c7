// SPDX-License-Identifier: Apache-2.0
// Inside core/record only: every statement that a window repeats, in one place, so that a test can ask for its plan.
#pragma once

#include <array>

namespace dsa::sql {

/// The list: one pass over `run`, no sample read. ?1 = 1 shows archived runs too.
inline constexpr const char* kRunList = R"sql(
SELECT r.id, r.uuid, r.name, r.status, r.reason, r.created_ms, r.started_ms, r.ended_ms, r.heartbeat_ms, r.archived, r.colour,
  r.dataset, r.dim, r.k, r.rule, r.placement, r.model, r.seed, r.step, r.epoch, r.loss_last, r.private_peak, r.device_peak,
  r.cache_peak, r.seconds, (SELECT count(*) FROM attempt a WHERE a.run = r.id),
  (SELECT group_concat(t.name, char(31)) FROM (SELECT name FROM tag WHERE run = r.id ORDER BY name) t), r.planned_steps, r.pid IS NOT NULL,
  r.cache_folder <> ''
FROM run r WHERE r.archived <= ?1 ORDER BY r.id)sql";

inline constexpr const char* kRunOne = R"sql(
SELECT r.id, r.uuid, r.name, r.status, r.reason, r.created_ms, r.started_ms, r.ended_ms, r.heartbeat_ms, r.archived, r.colour,
  r.dataset, r.dim, r.k, r.rule, r.placement, r.model, r.seed, r.step, r.epoch, r.loss_last, r.private_peak, r.device_peak,
  r.cache_peak, r.seconds, (SELECT count(*) FROM attempt a WHERE a.run = r.id),
  (SELECT group_concat(t.name, char(31)) FROM (SELECT name FROM tag WHERE run = r.id ORDER BY name) t), r.planned_steps, r.pid IS NOT NULL,
  r.cache_folder <> '',
  r.spec, r.machine, r.versions, r.notes, r.cache_folder, r.result, coalesce(r.pid, 0)
FROM run r WHERE r.id = ?1)sql";

inline constexpr const char* kRunByName = "SELECT id FROM run WHERE name = ?1 ORDER BY id";

inline constexpr const char* kAttempts = R"sql(
SELECT number, start_step, pid, started_ms, ended_ms, ended_how, superseded_from FROM attempt WHERE run = ?1 ORDER BY number)sql";

/// Metrics that have samples in run ?1.
inline constexpr const char* kMetrics = R"sql(
SELECT m.id, m.name, m.unit, m.source, m.axis FROM metric m
WHERE EXISTS (SELECT 1 FROM sample s WHERE s.run = ?1 AND s.metric = m.id) ORDER BY m.name)sql";

/// One page of one attempt: run ?1, metric ?2, attempt ?3, after (step ?4, wall ?5), before the superseded step ?6, at
/// most ?7.
inline constexpr const char* kSamplePage = R"sql(
SELECT step, wall_ms, value FROM sample
WHERE run = ?1 AND metric = ?2 AND attempt = ?3 AND (step, wall_ms) > (?4, ?5) AND step < ?6
ORDER BY step, wall_ms LIMIT ?7)sql";

/// Extremes of one attempt before the superseded step ?4: count, not finite, min, max of the finite ones.
inline constexpr const char* kSampleRange = R"sql(
SELECT count(*), count(*) - count(CASE WHEN abs(value) <= 1.7976931348623157e308 THEN 1 END),
  min(CASE WHEN abs(value) <= 1.7976931348623157e308 THEN value END),
  max(CASE WHEN abs(value) <= 1.7976931348623157e308 THEN value END)
FROM sample WHERE run = ?1 AND metric = ?2 AND attempt = ?3 AND step < ?4)sql";

inline constexpr const char* kEvents = R"sql(
SELECT id, attempt, wall_ms, step, kind, text FROM event WHERE run = ?1 AND id > ?2 ORDER BY id LIMIT ?3)sql";

inline constexpr const char* kCommands = R"sql(
SELECT id, kind, value, created_ms, taken_ms, answered_ms, answer FROM command WHERE run = ?1 AND id > ?2 ORDER BY id)sql";

/// What the trainer polls: run ?1, after command ?2.
inline constexpr const char* kPendingCommands = R"sql(
SELECT id, kind, value, created_ms FROM command WHERE run = ?1 AND id > ?2 AND taken_ms IS NULL ORDER BY id)sql";

inline constexpr const char* kComparison = "SELECT run, label FROM comparison WHERE id = ?1 ORDER BY arm";

inline constexpr const char* kActiveRuns = R"sql(
SELECT id, pid, pid_start, boot_id, pid_namespace, machine_id, coalesce(heartbeat_ms, created_ms) FROM run
WHERE status IN ('queued', 'running', 'paused') AND pid IS NOT NULL)sql";

/// The state of run ?1, unless it stands at step ?2 (NULL: whatever it is).
inline constexpr const char* kEmbedding = R"sql(
SELECT step, wall_ms, table_name, total_rows, dim, k, rows, weights, labels FROM embedding WHERE run = ?1 AND step IS NOT ?2)sql";

inline constexpr std::array kAll = {kRunList,    kRunOne,      kRunByName, kAttempts, kMetrics,
                                    kSamplePage, kSampleRange, kEvents,    kCommands, kPendingCommands,
                                    kComparison, kActiveRuns,  kEmbedding};

}  // namespace dsa::sql
