// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/new_run.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QCompleter>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QRadioButton>
#include <QScrollArea>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/data/catalogue.h"
#include "core/data/resources.h"
#include "core/spec/recipe.h"
#include "core/spec/spec_table.h"
#include "ui/look/icons.h"
#include "ui/look/theme.h"
#include "ui/look/units.h"
#include "ui/plots/fit_bars.h"
#include "ui/run/spec_text.h"

namespace dsa::ui {

namespace {

constexpr int kRecentDatasets = 8;
const char* const kPair = "pair";

QLabel* mutedLabel() {
  auto* label = new QLabel;
  label->setWordWrap(true);
  label->setForegroundRole(QPalette::PlaceholderText);
  // By its text alone a wrapping label would ask for a narrow column.
  label->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Minimum);
  return label;
}

QMap<QString, QString> modelNames() {
  return {{"poincare", NewRunDialog::tr("Poincare distance")},
          {"euclidean", NewRunDialog::tr("Euclidean distance")},
          {"transe", NewRunDialog::tr("TransE")},
          {"distmult", NewRunDialog::tr("DistMult")}};
}

QMap<QString, QString> ruleNames() {
  return {{"sparse_adam", NewRunDialog::tr("Adam")},
          {"radam", NewRunDialog::tr("Riemannian Adam")},
          {"rsgd", NewRunDialog::tr("Riemannian SGD")},
          {"row_adagrad", NewRunDialog::tr("row Adagrad")},
          {"dsa", NewRunDialog::tr("DSA original")}};
}

}  // namespace

NewRunDialog::NewRunDialog(DatasetProbe& probe, Hardware& hardware, QWidget* parent)
    : QDialog(parent), m_probe(probe), m_hardware(hardware) {
  setWindowTitle(tr("New run"));
  setAcceptDrops(true);
  auto* columns = new QHBoxLayout(this);
  columns->setContentsMargins(16, 16, 16, 16);
  columns->setSpacing(24);
  columns->addWidget(makeForm(), 1);
  columns->addWidget(makeSide(), 1);
  loadRecipes();
  connect(&m_probe, &DatasetProbe::changed, this, &NewRunDialog::refresh);
  connect(&m_hardware, &Hardware::changed, this, &NewRunDialog::refresh);
  resize(960, 660);
  refresh();
}

QLineEdit* NewRunDialog::addText(QFormLayout& form, const QString& path, const QString& label, const QString& tip) {
  auto* field = new QLineEdit;
  field->setAccessibleName(label);
  field->setToolTip(tip);
  form.addRow(label, field);
  m_texts[path] = field;
  connect(field, &QLineEdit::textChanged, this, &NewRunDialog::refresh);
  return field;
}

QComboBox* NewRunDialog::addChoice(QFormLayout& form, const QString& path, const QString& label, const QString& tip,
                                   const QMap<QString, QString>& names) {
  auto* field = new QComboBox;
  field->setAccessibleName(label);
  field->setToolTip(tip);
  field->addItem(tr("by default"), QString());
  const SpecKey* key = findSpecKey(path.toStdString());
  for (const std::string& choice : key->choices) {
    const QString name = QString::fromStdString(choice);
    field->addItem(names.value(name, name), name);
  }
  field->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  form.addRow(label, field);
  m_choices[path] = field;
  connect(field, &QComboBox::currentIndexChanged, this, &NewRunDialog::refresh);
  return field;
}

QWidget* NewRunDialog::makeForm() {
  auto* page = new QWidget;
  auto* form = new QFormLayout(page);
  form->setContentsMargins(0, 0, 8, 0);
  form->setHorizontalSpacing(16);
  form->setVerticalSpacing(8);
  form->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);

  m_recipe = new QComboBox;
  m_recipe->setAccessibleName(tr("Recipe"));
  m_recipe->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_recipe->setMinimumContentsLength(20);
  connect(m_recipe, &QComboBox::activated, this, &NewRunDialog::applyRecipe);
  m_recipe->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  form->addRow(tr("Recipe"), m_recipe);

  m_dataset = new QComboBox;
  m_dataset->setAccessibleName(tr("Dataset"));
  m_dataset->setEditable(true);
  m_dataset->setInsertPolicy(QComboBox::NoInsert);
  m_dataset->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_dataset->setMinimumContentsLength(20);
  m_dataset->setToolTip(tr("A bundled set, zipf:ROWS, tree:BRANCHING,DEPTH, or a file of your own; drop a file here"));
  for (const CatalogueEntry& entry : catalogue()) m_dataset->addItem(QString::fromStdString(entry.name));
  m_dataset->addItems({"zipf:1000000", "tree:3,7"});
  const QStringList recent = QSettings().value("recentDatasets").toStringList();
  if (!recent.isEmpty()) m_dataset->insertSeparator(m_dataset->count());
  m_dataset->addItems(recent);
  m_dataset->setCurrentText("wordnet-mammals");
  connect(m_dataset, &QComboBox::editTextChanged, this, &NewRunDialog::refresh);
  auto* browse = new QToolButton;
  browse->setIcon(icon("folder"));
  browse->setToolTip(tr("Choose a dataset file"));
  browse->setAccessibleName(browse->toolTip());
  connect(browse, &QToolButton::clicked, this, &NewRunDialog::browseDataset);
  auto* datasetRow = new QHBoxLayout;
  datasetRow->addWidget(m_dataset, 1);
  datasetRow->addWidget(browse);
  form->addRow(tr("Dataset"), datasetRow);
  m_datasetFacts = mutedLabel();
  form->addRow(QString(), m_datasetFacts);

  addChoice(*form, "model", tr("Model"), tr("What scores a pair or triple"), modelNames());
  addText(*form, "dim", tr("Dimension"), tr("Coordinates of a row"));

  m_euclidean = new QRadioButton(tr("Euclidean"));
  m_poincare = new QRadioButton(tr("Poincare"));
  m_euclidean->setChecked(true);
  auto* k = new QLineEdit;
  k->setAccessibleName(tr("Curvature k"));
  k->setToolTip(tr("Magnitude of the curvature of the Poincare ball; 0 is Euclidean"));
  k->setMaximumWidth(90);
  k->setText("1");
  m_texts["k"] = k;
  auto* kLabel = new QLabel(tr("k"));
  kLabel->setBuddy(k);
  auto* geometry = new QHBoxLayout;
  geometry->addWidget(m_euclidean);
  geometry->addWidget(m_poincare);
  geometry->addStretch(1);
  geometry->setSpacing(12);
  geometry->addWidget(kLabel);
  geometry->addWidget(k);
  form->addRow(tr("Geometry"), geometry);
  connect(k, &QLineEdit::textChanged, this, &NewRunDialog::refresh);
  connect(m_poincare, &QRadioButton::toggled, this, &NewRunDialog::refresh);

  addChoice(*form, "optimizer.rule", tr("Rule"), tr("How a row is updated"), ruleNames());
  m_place = new QComboBox;
  m_place->setAccessibleName(tr("Table in"));
  m_place->addItem(tr("Disk"), "disk");
  m_place->addItem(tr("RAM"), "ram");
  m_place->addItem(tr("GPU"), "gpu");
  m_place->addItem(tr("RAM, then disk (compare)"), kPair);
  m_place->setToolTip(
      tr("Where weights and moments lie; a pair runs the same rule in two places, one after the other"));
  connect(m_place, &QComboBox::currentIndexChanged, this, &NewRunDialog::refresh);
  m_place->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  form->addRow(tr("Table in"), m_place);

  auto* cache =
      addText(*form, "cache", tr("Cache folder"), tr("Where the table's files lie; it is made where it is missing"));
  cache->setPlaceholderText(defaultTablesFolder());
  auto* choose = new QAction(icon("folder"), tr("Choose a folder"), cache);
  cache->addAction(choose, QLineEdit::TrailingPosition);
  connect(choose, &QAction::triggered, this, &NewRunDialog::browseCache);
  m_cacheState = mutedLabel();
  form->addRow(QString(), m_cacheState);

  addText(*form, "ram_budget", tr("Memory for rows"),
          tr("Most memory for rows of a table on disk, such as 256 MiB; with it they are kept in a cache of the run's "
             "own"));
  m_device = new QComboBox;
  m_device->setAccessibleName(tr("Device"));
  m_device->setEditable(true);
  m_device->setInsertPolicy(QComboBox::NoInsert);
  m_device->addItems({"cpu", "sim:8 GiB", "sim:12 GiB", "sim:16 GiB", "sim:24 GiB"});
  m_device->setToolTip(tr("cpu, or sim:SIZE: a simulated card that counts and refuses as a card of that size would"));
  connect(m_device, &QComboBox::editTextChanged, this, &NewRunDialog::refresh);
  m_device->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  form->addRow(tr("Device"), m_device);

  addText(*form, "train.epochs", tr("Epochs"), tr("Passes over the training samples"));
  addText(*form, "train.steps", tr("Steps at most"), tr("End after this many batches; 0 is whole epochs"));
  addText(*form, "train.batch", tr("Batch"), tr("Training samples of a step"));
  addText(*form, "train.negatives", tr("Negatives"), tr("Corrupted samples for each true one"));
  addText(*form, "optimizer.lr", tr("Learning rate"), tr("Step length; its default depends on the rule"));
  addText(*form, "train.seed", tr("Seed"), tr("Of all random numbers: one seed, one table, bit for bit"));
  addText(*form, "train.threads", tr("Threads"), tr("Changes the speed only, never the result"));
  addText(*form, "name", tr("Name"), tr("In lists; empty: made from the dataset"));

  auto* scroll = new QScrollArea;
  scroll->setWidget(page);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setMinimumWidth(420);
  return scroll;
}

QWidget* NewRunDialog::makeSide() {
  auto* side = new QWidget;
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  auto* heading = new QLabel(tr("Will it fit?"));
  QFont font = heading->font();
  font.setPointSize(13);
  font.setWeight(QFont::DemiBold);
  heading->setFont(font);
  column->addWidget(heading);
  m_picture = new FitBars;
  column->addWidget(m_picture);
  m_summary = mutedLabel();
  column->addWidget(m_summary);
  column->addStretch(1);
  m_problemLabel = new QLabel;
  m_problemLabel->setWordWrap(true);
  m_problemLabel->setAccessibleName(tr("Problem"));
  column->addWidget(m_problemLabel);
  auto* buttons = new QHBoxLayout;
  m_copy = new QPushButton(icon("copy"), tr("Copy command line"));
  m_queue = new QPushButton(icon("queue"), tr("Queue"));
  m_queue->setToolTip(tr("Record it now; it starts when no other run is going on and this window is open"));
  m_start = new QPushButton(icon("play"), tr("Start"));
  // Enter starts, whatever button has the focus' frame.
  m_copy->setAutoDefault(false);
  m_queue->setAutoDefault(false);
  m_start->setDefault(true);
  m_start->setShortcut(QKeySequence("Ctrl+R"));
  buttons->addWidget(m_copy);
  buttons->addStretch(1);
  buttons->addWidget(m_queue);
  buttons->addWidget(m_start);
  column->addLayout(buttons);
  connect(m_start, &QPushButton::clicked, this, [this] { start(false); });
  connect(m_queue, &QPushButton::clicked, this, [this] { start(true); });
  connect(m_copy, &QPushButton::clicked, this, [this] {
    if (const auto asked = request()) QApplication::clipboard()->setText(commandLineFor(*asked));
  });
  return side;
}

void NewRunDialog::loadRecipes() {
  m_recipe->addItem(tr("none: defaults for the dataset"), QString());
  const auto folder = resourceFolder();
  if (!folder) return;
  const auto recipes = listRecipes(*folder + "/recipes");
  if (!recipes) return;
  for (const Recipe& recipe : *recipes)
    m_recipe->addItem(QString::fromStdString(recipe.name + ": " + recipe.title), QString::fromStdString(recipe.name));
}

void NewRunDialog::applyRecipe(int index) {
  const QString name = m_recipe->itemData(index).toString();
  if (name.isEmpty()) {
    setSpec(RunSpec());
    return;
  }
  const auto folder = resourceFolder();
  const auto recipe =
      folder ? loadRecipe(*folder + "/recipes", name.toStdString()) : tl::unexpected<Error>(folder.error());
  if (!recipe) {
    say(QString::fromStdString(recipe.error().message));
    return;
  }
  setSpec(recipe->spec);
}

void NewRunDialog::setSpec(const RunSpec& spec) {
  m_filling = true;
  m_base = spec;
  if (spec.dataset) m_dataset->setCurrentText(QString::fromStdString(*spec.dataset));
  for (auto it = m_texts.begin(); it != m_texts.end(); ++it) {
    if (it.key() == "k") continue;
    const auto value = findSpecKey(it.key().toStdString())->get(spec);
    it.value()->setText(value ? specValueText(*value) : QString());
  }
  for (auto it = m_choices.begin(); it != m_choices.end(); ++it) {
    const auto value = findSpecKey(it.key().toStdString())->get(spec);
    it.value()->setCurrentIndex(value ? it.value()->findData(specValueText(*value)) : 0);
  }
  const double k = spec.k.value_or(0);
  (k > 0 ? m_poincare : m_euclidean)->setChecked(true);
  if (k > 0) m_texts["k"]->setText(QString::fromStdString(shortestNumber(k)));
  const PlacementChoice place = spec.optimizer.placement.value_or(PlacementChoice::disk);
  m_place->setCurrentIndex(m_place->findData(QString::fromUtf8(choiceName(place).data())));
  m_device->setCurrentText(spec.device ? QString::fromStdString(*spec.device) : "cpu");
  m_filling = false;
  refresh();
}

void NewRunDialog::setDataset(const QString& nameOrPath) { m_dataset->setCurrentText(nameOrPath); }

std::optional<RunSpec> NewRunDialog::gather() {
  RunSpec spec = m_base;
  const auto take = [&](const QString& path, const QString& text, const QString& label) {
    const SpecKey* key = findSpecKey(path.toStdString());
    const auto value = valueFromText(*key, text.toStdString(), label.toStdString());
    if (!value) {
      say(QString::fromStdString(value.error().message));
      return false;
    }
    key->set(spec, *value);
    return true;
  };
  const QString dataset = m_dataset->currentText().trimmed();
  if (dataset.isEmpty()) {
    say(tr("Choose a dataset."));
    return std::nullopt;
  }
  spec.dataset = dataset.toStdString();
  // What stands in a field decides; an emptied field gives the key back to its default.
  spec.k = std::nullopt;
  spec.train = {};
  spec.train.burnIn = m_base.train.burnIn;
  spec.name = spec.cache = std::nullopt;
  spec.ramBudget = std::nullopt;
  spec.dim = std::nullopt;
  spec.model = std::nullopt;
  spec.optimizer.lr = std::nullopt;
  spec.optimizer.rule = std::nullopt;
  for (auto it = m_texts.cbegin(); it != m_texts.cend(); ++it) {
    const QString text = it.value()->text().trimmed();
    if (it.key() == "k" ? !m_poincare->isChecked() : text.isEmpty()) continue;
    if (!take(it.key(), text, it.value()->accessibleName())) return std::nullopt;
  }
  if (!m_poincare->isChecked()) spec.k = 0;
  if (m_poincare->isChecked() && spec.k.value_or(0) <= 0) {
    say(tr("Curvature k: the Poincare ball needs a number above 0; for 0 choose Euclidean."));
    return std::nullopt;
  }
  for (auto it = m_choices.cbegin(); it != m_choices.cend(); ++it) {
    const QString name = it.value()->currentData().toString();
    if (!name.isEmpty() && !take(it.key(), name, it.value()->accessibleName())) return std::nullopt;
  }
  const QString place = m_place->currentData().toString();
  if (!take("optimizer.placement", place == kPair ? "disk" : place, tr("Table in"))) return std::nullopt;
  const QString device = m_device->currentText().trimmed();
  if (!device.isEmpty() && !take("device", device, tr("Device"))) return std::nullopt;
  return spec;
}

void NewRunDialog::refresh() {
  if (m_filling || m_start == nullptr) return;
  m_texts["k"]->setEnabled(m_poincare->isChecked());
  say({});
  m_spec.reset();
  m_arms.clear();
  showCache();
  bool planned = false;
  const auto spec = gather();
  const DatasetProbe::Answer answer = m_probe.ask(m_dataset->currentText().trimmed());
  switch (answer.state) {
    case DatasetProbe::State::reading:
      m_datasetFacts->setText(tr("reading …"));
      m_picture->setMessage(tr("The dataset is being read."));
      break;
    case DatasetProbe::State::failed:
      m_datasetFacts->setText(QString());
      m_picture->setMessage(tr("Without a dataset there is nothing to plan."));
      say(answer.error);
      break;
    case DatasetProbe::State::known:
      m_datasetFacts->setText(answer.dataset.remarks.isEmpty()
                                  ? factsText(answer.dataset.facts)
                                  : factsText(answer.dataset.facts) + "\n" + answer.dataset.remarks);
      planned = spec && showPicture(*spec, answer.dataset.facts);
      // What was planned for other values must not stand beside these.
      if (!planned) m_picture->setMessage(tr("No plan yet: see the message below."));
      break;
  }
  if (!planned) {
    m_summary->clear();
    for (QComboBox* choice : m_choices) choice->setItemText(0, tr("by default"));
  }
  const bool ready = m_spec.has_value() && m_problem.isEmpty();
  m_start->setEnabled(ready);
  m_queue->setEnabled(ready);
  m_copy->setEnabled(ready);
}

bool NewRunDialog::showPicture(const RunSpec& spec, const DatasetFacts& facts) {
  const auto resolved = resolve(spec, facts);
  if (!resolved) {
    say(QString::fromStdString(resolved.error().message));
    return false;
  }
  showDefaults(*resolved);
  PlanCapacity capacity;
  capacity.memory = Hardware::memoryAvailable();
  const QString folder = m_texts["cache"]->text().trimmed();
  capacity.disk = lookAtCacheFolder(folder.isEmpty() ? defaultTablesFolder() : folder).freeBytes;
  const auto device = parseDevice(resolved->device);
  const bool simulated = device && device->kind == DeviceChoice::Kind::simulated;
  capacity.card = simulated ? std::optional<std::uint64_t>(device->bytes) : m_hardware.cardBytes();
  const PlanInput input = planInputFor(*resolved, facts, capacity);
  m_picture->setBars(fitBars(input, capacity, simulated));
  m_summary->setText(tr("%1 steps in all, %2 rows a step at most")
                         .arg(Units::count(plannedSteps(*resolved, facts)), Units::count(input.batchRows)));
  if (resolved->optimizer.placement == PlacementChoice::gpu && !simulated) {
    say(tr("This version trains on a simulated card only: choose Device sim:SIZE, or put the table on disk."));
    return true;
  }
  if (m_place->currentData().toString() == kPair) {
    const QString rule = QString::fromUtf8(choiceName(resolved->optimizer.rule).data());
    const QString whole = simulated ? "gpu:" : "ram:";
    m_arms = {whole + rule, "disk:" + rule};
  }
  m_spec = spec;
  return true;
}

void NewRunDialog::showDefaults(const ResolvedSpec& resolved) {
  for (auto it = m_texts.cbegin(); it != m_texts.cend(); ++it) {
    if (it.key() == "k" || it.key() == "cache" || it.key() == "name" || !it.value()->text().isEmpty()) continue;
    it.value()->setPlaceholderText(it.key() == "ram_budget"
                                       ? tr("no budget")
                                       : specValueText(findSpecKey(it.key().toStdString())->getResolved(resolved)));
  }
  for (auto it = m_choices.cbegin(); it != m_choices.cend(); ++it) {
    const QString name = specValueText(findSpecKey(it.key().toStdString())->getResolved(resolved));
    const int index = it.value()->findData(name);
    if (it.value()->currentIndex() == 0 && index > 0)
      it.value()->setItemText(0, tr("by default: %1").arg(it.value()->itemText(index)));
  }
}

void NewRunDialog::showCache() {
  const QString folder = m_texts["cache"]->text().trimmed();
  const CacheFolderState state = lookAtCacheFolder(folder.isEmpty() ? defaultTablesFolder() : folder);
  QStringList parts;
  if (!state.writable) parts << tr("not writable: choose another folder");
  if (!state.fileSystem.isEmpty()) parts << state.fileSystem;
  if (state.freeBytes) parts << tr("%1 free").arg(Units::bytes(static_cast<double>(*state.freeBytes)));
  if (state.inMemory) parts << tr("this is memory, not a disk");
  if (state.onNetwork) parts << tr("on the network: rows will be slow");
  if (state.rotational.value_or(false)) parts << tr("the kernel calls the disk rotational");
  m_cacheState->setText(parts.join(QString(" ") + QChar(0x00B7) + " "));
  const bool wrong =
      !state.writable && m_place->currentData().toString() != "ram" && m_place->currentData().toString() != "gpu";
  if (wrong) say(tr("The cache folder %1 is not writable; choose another one.").arg(state.folder));
}

void NewRunDialog::say(const QString& problem) {
  if (!problem.isEmpty() && !m_problem.isEmpty()) return;  // the first one stands
  m_problem = problem;
  m_problemLabel->setText(problem);
  setSheet(*m_problemLabel, QString("color: %1;").arg(Theme::current().error.name()));
}

std::optional<LaunchRequest> NewRunDialog::request(bool queue) const {
  if (!m_spec || !m_problem.isEmpty()) return std::nullopt;
  LaunchRequest asked;
  asked.spec = *m_spec;
  asked.arms = m_arms;
  asked.queue = queue;
  return asked;
}

void NewRunDialog::start(bool queue) {
  const auto asked = request(queue);
  if (!asked) return;
  if (!factsOfBundled(*asked->spec.dataset)) {
    QStringList recent = QSettings().value("recentDatasets").toStringList();
    recent.removeAll(QString::fromStdString(*asked->spec.dataset));
    recent.prepend(QString::fromStdString(*asked->spec.dataset));
    QSettings().setValue("recentDatasets", recent.mid(0, kRecentDatasets));
  }
  emit wanted(*asked);
  accept();
}

void NewRunDialog::browseDataset() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Choose a dataset file"));
  if (!file.isEmpty()) setDataset(file);
}

void NewRunDialog::browseCache() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Choose a folder for the table"));
  if (!folder.isEmpty()) m_texts["cache"]->setText(folder);
}

void NewRunDialog::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void NewRunDialog::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (!urls.isEmpty() && urls.constFirst().isLocalFile()) setDataset(urls.constFirst().toLocalFile());
}

void NewRunDialog::changeEvent(QEvent* event) {
  QDialog::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) refresh();
}

}  // namespace dsa::ui
