// SPDX-License-Identifier: Apache-2.0
#include "core/record/schema.h"

#include <array>

namespace dsa {

namespace {

// Never edited after a release: a change of the tables is a further step.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  spec TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('queued', 'running', 'paused', 'finished', 'stopped', 'interrupted', 'failed', 'refused')),
  reason TEXT NOT NULL DEFAULT '',
  created_ms INTEGER NOT NULL,
  started_ms INTEGER,
  ended_ms INTEGER,
  machine TEXT NOT NULL DEFAULT '',
  versions TEXT NOT NULL DEFAULT '',
  colour INTEGER NOT NULL DEFAULT 0,
  notes TEXT NOT NULL DEFAULT '',
  archived INTEGER NOT NULL DEFAULT 0,
  pid INTEGER,
  pid_start INTEGER,
  boot_id TEXT NOT NULL DEFAULT '',
  pid_namespace TEXT NOT NULL DEFAULT '',
  machine_id TEXT NOT NULL DEFAULT '',
  heartbeat_ms INTEGER,
  watched_ms INTEGER,
  cache_folder TEXT NOT NULL DEFAULT '',
  result TEXT NOT NULL DEFAULT '',
  dataset TEXT NOT NULL DEFAULT '',
  dim INTEGER NOT NULL DEFAULT 0,
  k REAL NOT NULL DEFAULT 0,
  rule TEXT NOT NULL DEFAULT '',
  placement TEXT NOT NULL DEFAULT '',
  model TEXT NOT NULL DEFAULT '',
  seed INTEGER NOT NULL DEFAULT 0,
  step INTEGER,
  epoch REAL,
  loss_last REAL,
  private_peak INTEGER,
  device_peak INTEGER,
  cache_peak INTEGER,
  seconds REAL
);
CREATE INDEX run_name ON run (name);
CREATE INDEX run_active ON run (status) WHERE status IN ('queued', 'running', 'paused');

CREATE TABLE attempt (
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  start_step INTEGER NOT NULL,
  pid INTEGER NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  ended_how TEXT NOT NULL DEFAULT '',
  superseded_from INTEGER,
  PRIMARY KEY (run, number)
) WITHOUT ROWID;

CREATE TABLE command (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  value INTEGER,
  created_ms INTEGER NOT NULL,
  taken_ms INTEGER,
  answered_ms INTEGER,
  answer TEXT NOT NULL DEFAULT ''
);
CREATE INDEX command_of_run ON command (run, id);

CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT NOT NULL,
  source TEXT NOT NULL,
  axis TEXT NOT NULL CHECK (axis IN ('step', 'time'))
);

CREATE TABLE sample (
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  metric INTEGER NOT NULL REFERENCES metric (id),
  attempt INTEGER NOT NULL,
  step INTEGER NOT NULL,
  wall_ms INTEGER NOT NULL,
  value REAL,
  PRIMARY KEY (run, metric, attempt, step, wall_ms)
) WITHOUT ROWID;

CREATE TABLE event (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  wall_ms INTEGER NOT NULL,
  step INTEGER NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL
);
CREATE INDEX event_of_run ON event (run, id);

CREATE TABLE tag (
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  PRIMARY KEY (run, name)
) WITHOUT ROWID;

CREATE TABLE comparison (
  id INTEGER NOT NULL,
  arm INTEGER NOT NULL,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  label TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  PRIMARY KEY (id, arm)
) WITHOUT ROWID;
CREATE INDEX comparison_of_run ON comparison (run);
)sql";

// How far a run has to go: a window's progress and time left.
constexpr const char* kVersion2 = "ALTER TABLE run ADD COLUMN planned_steps INTEGER";

// The latest state of some rows, replaced at each new one: what a window draws as points, also when the table is gone.
constexpr const char* kVersion3 = R"sql(
CREATE TABLE embedding (
  run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  wall_ms INTEGER NOT NULL,
  table_name TEXT NOT NULL,
  total_rows INTEGER NOT NULL,
  dim INTEGER NOT NULL,
  k REAL NOT NULL,
  rows BLOB NOT NULL,
  weights BLOB NOT NULL,
  labels TEXT NOT NULL DEFAULT ''
);
)sql";

constexpr std::array<Migration, 3> kMigrations = {Migration{1, kVersion1}, Migration{2, kVersion2},
                                                  Migration{3, kVersion3}};

}  // namespace

std::span<const Migration> builtInMigrations() { return kMigrations; }

}  // namespace dsa
