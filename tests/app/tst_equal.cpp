// SPDX-License-Identifier: Apache-2.0
// The same run in every place, on any number of threads and at every kernel level: one sequence of losses, one table.
// And the demo learns.
#include <cmath>
#include <set>

#include "app_fixture.h"

using namespace app;

class TestEqual : public QObject {
  Q_OBJECT
 private slots:
  void ramAndDiskEndEqual();
  void threadsLevelsAndPlacesEndEqual_data();
  void threadsLevelsAndPlacesEndEqual();
  void aRefusedArmIsAnAnswer();
  void theDemosLossHalves();
  void anotherSeedGivesAnotherTable();
};

void TestEqual::ramAndDiskEndEqual() {
  const Home home;
  const Ended ended = home.run(
      "compare --dataset wordnet-mammals --model poincare --dim 8 --k 0 --rule sparse_adam --epochs 20 --seed 1 --arms "
      "ram:sparse_adam,disk:sparse_adam --hash --json --cache",
      {home.cache()});
  COMPARE_EXIT(ended, 0);
  const Json arms = ended.json()["arms"];
  QCOMPARE(arms.size(), std::size_t{2});
  QCOMPARE(arms[0]["losses"].size(), std::size_t{20});
  QVERIFY(arms[0]["losses"] == arms[1]["losses"]);
  QVERIFY(arms[0]["losses"][19].get<double>() < arms[0]["losses"][0].get<double>());
  QCOMPARE(arms[0]["table_sha256"].get<std::string>().size(), std::size_t{64});
  QCOMPARE(arms[0]["table_sha256"].get<std::string>(), arms[1]["table_sha256"].get<std::string>());
  QVERIFY(arms[0]["metrics"] == arms[1]["metrics"]);
  QVERIFY(ended.json()["same_losses"].get<bool>() && ended.json()["same_table"].get<bool>());
  QCOMPARE(arms[0]["placement"].get<std::string>(), std::string("ram"));
  QCOMPARE(arms[1]["placement"].get<std::string>(), std::string("disk"));
  QCOMPARE(arms[0]["memory"]["disk_bytes"].get<int>(), 0);
  QVERIFY(arms[1]["memory"]["disk_bytes"].get<int>() > 0);
}

void TestEqual::threadsLevelsAndPlacesEndEqual_data() {
  QTest::addColumn<QString>("spec");
  QTest::newRow("radam on the ball")
      << "--dataset wordnet-mammals --model poincare --dim 8 --k 1 --rule radam --epochs 2 --batch 256 --negatives 20";
  QTest::newRow("dsa on the ball") << "--dataset wordnet-mammals --dim 9 --k 1 --rule dsa --epochs 1 --batch 256 "
                                      "--negatives 10 --weight-decay 0.001";
  QTest::newRow("rsgd") << "--dataset wordnet-mammals --dim 5 --k 1 --rule rsgd --epochs 1 --batch 128 --negatives 10";
  QTest::newRow("distmult, row_adagrad")
      << "--dataset umls --model distmult --dim 33 --k 0 --rule row_adagrad --epochs 2 --batch 512 --negatives 8";
}

void TestEqual::threadsLevelsAndPlacesEndEqual() {
  QFETCH(QString, spec);
  Home home;
  QStringList levels;
  for (const char* level : {"scalar", "avx2", "avx512", "warp", "lanes16"}) {
    home.set("DSA_KERNELS", level);
    const Ended asked = home.run("doctor --json");
    if (asked.code == 0) {
      QCOMPARE(asked.json()["kernels"].get<std::string>(), std::string(level));
      levels << level;
    } else {
      COMPARE_EXIT(asked, 4);
    }
  }
  // scalar, and both emulated orders of addition, are there on every machine.
  QVERIFY(levels.contains("scalar") && levels.contains("warp") && levels.contains("lanes16"));
  Json first;
  const auto check = [&](const QString& level, const QString& more) {
    home.set("DSA_KERNELS", level);
    const Ended ended = home.run("train --seed 3 --hash --json " + spec + " " + more, {"--cache", home.cache()});
    COMPARE_EXIT(ended, 0);
    const Json object = ended.json();
    if (first.is_null()) first = object;
    QVERIFY2(object["losses"] == first["losses"] && object["table_sha256"] == first["table_sha256"],
             qPrintable(level + " " + more));
    QVERIFY2(object["metrics"] == first["metrics"], qPrintable(level + " " + more));
  };
  for (const QString& level : levels) {
    for (const char* threads : {"--threads 1", "--threads 2"}) check(level, QString("--placement disk ") + threads);
  }
  check("scalar", "--placement ram --threads 3");
  check("scalar", "--placement disk --durability power --checkpoint-steps 3 --threads 2");
  check("scalar", "--engine direct --checkpoint-steps 5 --threads 2");
  check("scalar", "--ram-budget 3MiB --threads 1");
  check("scalar", "--ram-budget 1MiB --engine mmap --threads 2");
  home.set("DSA_KERNELS", "");
  const Ended card = home.run("train --seed 3 --hash --json --placement gpu " + spec, {"--device", "sim:1 GiB"});
  COMPARE_EXIT(card, 0);
  QVERIFY(card.json()["losses"] == first["losses"]);
  QVERIFY(card.json()["table_sha256"] == first["table_sha256"]);
  QVERIFY(card.json()["simulated"].get<bool>());
  QVERIFY(card.json()["memory"]["device_peak"].get<std::uint64_t>() >
          card.json()["memory"]["table_bytes"].get<std::uint64_t>());
}

void TestEqual::aRefusedArmIsAnAnswer() {
  const Home home;
  // 1,000,000 x 3 x 128 x 4 bytes = 1.43 GiB against a card of 1 GiB.
  const Ended ended = home.run(
      "compare --dataset zipf:1000000 --dim 128 --batch 100 --negatives 2 --steps 3 --arms "
      "gpu:sparse_adam,disk:sparse_adam --hash --json --cache",
      {home.cache(), "--device", "sim:1 GiB"});
  COMPARE_EXIT(ended, 0);
  const Json arms = ended.json()["arms"];
  QCOMPARE(arms[0]["status"].get<std::string>(), std::string("refused"));
  QVERIFY2(arms[0]["reason"].get<std::string>().starts_with("needs 1.43 GiB, card has 1.00 GiB; nothing was run"),
           arms[0].dump().c_str());
  QCOMPARE(arms[1]["status"].get<std::string>(), std::string("finished"));
  QVERIFY(!ended.json()["same_losses"].get<bool>());
  // Where no arm ran, the refusal is the answer.
  const Ended none = home.run(
      "compare --dataset zipf:1000000 --dim 128 --batch 100 --negatives 2 --steps 3 --arms gpu:sparse_adam --json "
      "--cache",
      {home.cache(), "--device", "sim:1 GiB"});
  COMPARE_EXIT(none, 4);
  QCOMPARE(none.json()["arms"][0]["status"].get<std::string>(), std::string("refused"));
}

void TestEqual::theDemosLossHalves() {
  // The demo's shape at a fiftieth: what it takes to halve is the settings', the size is the time's.
  const Home home;
  const Ended ended = home.run(
      "train --dataset zipf:20000 --dim 16 --k 0 --rule sparse_adam --lr 0.01 --batch 1000 --negatives 8 --steps 300 "
      "--seed 1 --threads 2 --json --cache",
      {home.cache()});
  COMPARE_EXIT(ended, 0);
  const Json losses = ended.json()["losses"];
  QCOMPARE(losses.size(), std::size_t{3});
  const double first = std::log(9.0);  // nothing learnt: nine candidates, equally likely
  QVERIFY2(losses[2].get<double>() < first / 2, losses.dump().c_str());
}

void TestEqual::anotherSeedGivesAnotherTable() {
  const Home home;
  std::set<std::string> hashes;
  for (const char* change : {"--seed 1 --epochs 1", "--seed 2 --epochs 1", "--seed 1 --epochs 1 --lr 0.02",
                             "--seed 1 --epochs 1 --negatives 4", "--seed 1 --epochs 2"}) {
    const Ended ended =
        home.run(QString("train --dataset tree:3,4 --dim 4 --batch 64 --placement ram --hash --json ") + change);
    COMPARE_EXIT(ended, 0);
    hashes.insert(ended.json()["table_sha256"].get<std::string>());
  }
  QCOMPARE(hashes.size(), std::size_t{5});
}

QTEST_GUILESS_MAIN(TestEqual)
#include "tst_equal.moc"
