<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ru_RU">
<context>
    <name>dsa::ui::Banner</name>
    <message>
        <source>Dismiss the message</source>
        <translation>Скрыть сообщение</translation>
    </message>
</context>
<context>
    <name>dsa::ui::BudgetSlider</name>
    <message>
        <source>Memory for rows</source>
        <translation>Память под строки</translation>
    </message>
    <message>
        <source>The trainer keeps the table&apos;s rows in memory within it, page cache or row cache; the result stays the same, bit for bit</source>
        <translation>Обучение держит строки таблицы в памяти в этих пределах: страничный кэш или кэш строк; результат остаётся тем же до последнего бита</translation>
    </message>
    <message>
        <source>no budget</source>
        <translation>без ограничения</translation>
    </message>
</context>
<context>
    <name>dsa::ui::ComparePage</name>
    <message>
        <source>Two runs stand side by side here: select them in the list, or let the demo make them.</source>
        <translation>Здесь сравниваются два запуска: их можно выбрать в списке или получить из демо.</translation>
    </message>
    <message>
        <source>Run the one-minute demo</source>
        <translation>Запустить минутное демо</translation>
    </message>
    <message>
        <source>Run A</source>
        <translation>Запуск A</translation>
    </message>
    <message>
        <source>Run B</source>
        <translation>Запуск B</translation>
    </message>
    <message>
        <source>Swap A and B</source>
        <translation>Поменять A и B местами</translation>
    </message>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>B</source>
        <translation>B</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Память</translation>
    </message>
    <message>
        <source>Loss by step</source>
        <translation>Потери по шагам</translation>
    </message>
    <message>
        <source>Loss by active time: the price</source>
        <translation>Потери по активному времени: цена</translation>
    </message>
    <message>
        <source>Page faults per second, minor and major</source>
        <translation>Малые и большие страничные сбои/с</translation>
    </message>
    <message>
        <source>active time</source>
        <translation>активное время</translation>
    </message>
    <message>
        <source>Read from disk, per second</source>
        <translation>Чтение с диска, в секунду</translation>
    </message>
    <message>
        <source>no samples yet</source>
        <translation>замеров пока нет</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Результат</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>Результаты</translation>
    </message>
    <message>
        <source>Parameter</source>
        <translation>Параметр</translation>
    </message>
    <message>
        <source>Differences</source>
        <translation>Различия</translation>
    </message>
    <message>
        <source>Differences only</source>
        <translation>Только различия</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Параметры</translation>
    </message>
    <message>
        <source>A minor</source>
        <translation>A, малые</translation>
    </message>
    <message>
        <source>B minor</source>
        <translation>B, малые</translation>
    </message>
    <message>
        <source>A major</source>
        <translation>A, большие</translation>
    </message>
    <message>
        <source>B major</source>
        <translation>B, большие</translation>
    </message>
    <message>
        <source>choose a run</source>
        <translation>выбрать запуск</translation>
    </message>
    <message>
        <source>starts after the first</source>
        <translation>начнётся после первого</translation>
    </message>
    <message>
        <source>Memory of A</source>
        <translation>Память A</translation>
    </message>
    <message>
        <source>Memory of B</source>
        <translation>Память B</translation>
    </message>
    <message>
        <source>table in: %1</source>
        <translation>таблица: %1</translation>
    </message>
    <message>
        <source>Loss by step: %1</source>
        <translation>Потери по шагам: %1</translation>
    </message>
    <message>
        <source>Not like for like: %1.</source>
        <translation>Условия не равны: %1.</translation>
    </message>
    <message>
        <source>Private peak %1 → %2</source>
        <translation>Пик собственной памяти %1 → %2</translation>
    </message>
    <message>
        <source>page cache of B %1 (reclaimable)</source>
        <translation>кэш страниц B %1 (освобождаемый)</translation>
    </message>
    <message>
        <source>page cache of A %1 (reclaimable)</source>
        <translation>кэш страниц A %1 (освобождаемый)</translation>
    </message>
    <message>
        <source>time %1 ×</source>
        <translation>время ×%1</translation>
    </message>
    <message>
        <source>the card is simulated</source>
        <translation>карта имитируется</translation>
    </message>
</context>
<context>
    <name>ComparisonText</name>
    <message>
        <source>content of the dataset (sha256)</source>
        <translation>содержимое набора (sha256)</translation>
    </message>
    <message>
        <source>private peak</source>
        <translation>пик собств. памяти</translation>
    </message>
    <message>
        <source>table in memory, peak</source>
        <translation>пик таблицы в памяти</translation>
    </message>
    <message>
        <source>device peak</source>
        <translation>пик на устройстве</translation>
    </message>
    <message>
        <source>on disk</source>
        <translation>на диске</translation>
    </message>
    <message>
        <source>time</source>
        <translation>время</translation>
    </message>
    <message>
        <source>samples per second</source>
        <translation>примеров в секунду</translation>
    </message>
    <message>
        <source>final loss</source>
        <translation>итоговые потери</translation>
    </message>
    <message>
        <source>MAP</source>
        <translation>MAP</translation>
    </message>
    <message>
        <source>mean rank</source>
        <translation>средний ранг</translation>
    </message>
    <message>
        <source>MRR</source>
        <translation>MRR</translation>
    </message>
    <message>
        <source>Hits@10</source>
        <translation>Hits@10</translation>
    </message>
    <message>
        <source>major faults</source>
        <translation>большие сбои</translation>
    </message>
    <message>
        <source>minor faults</source>
        <translation>малые сбои</translation>
    </message>
    <message>
        <source>read from disk</source>
        <translation>прочитано с диска</translation>
    </message>
    <message>
        <source>dirtied for disk</source>
        <translation>к записи на диск</translation>
    </message>
    <message>
        <source>the datasets&apos; content differs</source>
        <translation>содержимое наборов данных различается</translation>
    </message>
    <message>
        <source>%1 differs (%2 and %3)</source>
        <translation>%1 различается (%2 и %3)</translation>
    </message>
    <message>
        <source>difference 0, identical bits</source>
        <translation>разность 0, биты те же</translation>
    </message>
    <message>
        <source>difference 0</source>
        <translation>разность 0</translation>
    </message>
    <message>
        <source>the losses differ</source>
        <translation>потери различаются</translation>
    </message>
</context>
<context>
    <name>dsa::ui::DatasetProbe</name>
    <message>
        <source>hierarchy</source>
        <translation>иерархия</translation>
    </message>
    <message>
        <source>%1 entities</source>
        <translation>сущностей: %1</translation>
    </message>
    <message>
        <source>%1 training edges</source>
        <translation>рёбер для обучения: %1</translation>
    </message>
    <message>
        <source>knowledge graph</source>
        <translation>граф знаний</translation>
    </message>
    <message>
        <source>%1 relations</source>
        <translation>отношений: %1</translation>
    </message>
    <message>
        <source>%1 training triples</source>
        <translation>троек для обучения: %1</translation>
    </message>
    <message>
        <source>synthetic pairs by a Zipf law</source>
        <translation>синтетические пары по закону Ципфа</translation>
    </message>
    <message>
        <source>%1 rows</source>
        <translation>строк: %1</translation>
    </message>
</context>
<context>
    <name>dsa::ui::DeleteTableDialog</name>
    <message>
        <source>Delete the table</source>
        <translation>Удалить таблицу</translation>
    </message>
    <message>
        <source>Its table takes … on the disk.</source>
        <translation>Таблица занимает на диске …</translation>
    </message>
    <message>
        <source>The record stays, with its plots and its result. Without the table the run can be neither resumed nor evaluated. This cannot be undone.</source>
        <translation>Запись останется: с графиками и результатом. Без таблицы запуск нельзя ни продолжить, ни оценить. Отменить удаление нельзя.</translation>
    </message>
    <message>
        <source>Type &quot;%1&quot; to &amp;confirm:</source>
        <translation>&amp;Для подтверждения введите «%1»:</translation>
    </message>
    <message>
        <source>delete</source>
        <translation>удалить</translation>
    </message>
    <message>
        <source>Its table takes %1 on the disk.</source>
        <translation>Таблица занимает на диске %1.</translation>
    </message>
    <message>
        <source>Its folder is not there any more; only the record will be put right.</source>
        <translation>Её папки больше нет; будет исправлена только запись.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Отмена</translation>
    </message>
</context>
<context>
    <name>dsa::ui::DemoDirector</name>
    <message>
        <source>A table of %1 rows (%2), trained twice with the same bits: in RAM, then on disk.</source>
        <translation>Таблица из %1 строк (%2) обучается дважды, бит в бит: в ОЗУ, затем на диске.</translation>
    </message>
    <message>
        <source>Under 4 GiB of memory are available: a quarter of the usual rows.</source>
        <translation>Доступно менее 4 ГиБ памяти: строк вчетверо меньше обычного.</translation>
    </message>
    <message>
        <source>Demo %1</source>
        <translation>Демо %1</translation>
    </message>
    <message>
        <source>Demo %1, second act</source>
        <translation>Демо %1, второе действие</translation>
    </message>
</context>
<context>
    <name>dsa::ui::EmbeddingPage</name>
    <message>
        <source>all %1 rows</source>
        <translation>все строки: %1</translation>
    </message>
    <message>
        <source>%1 of %2 rows, those the first batches met</source>
        <translation>%1 из %2 строк, встреченных первыми пакетами</translation>
    </message>
    <message>
        <source>two leading directions through the origin, %1 % of the squares</source>
        <translation>два главных направления через начало координат, %1 % суммы квадратов</translation>
    </message>
    <message>
        <source>PCA, %1 % of the variance</source>
        <translation>метод главных компонент, %1 % дисперсии</translation>
    </message>
    <message>
        <source>the only coordinate</source>
        <translation>единственная координата</translation>
    </message>
    <message>
        <source>first two coordinates</source>
        <translation>первые две координаты</translation>
    </message>
    <message>
        <source>No run is shown. The one-minute demo ends with one that unfolds before your eyes.</source>
        <translation>Запуск не выбран. Минутное демо завершается запуском, который разворачивается на глазах.</translation>
    </message>
    <message>
        <source>One-minute demo</source>
        <translation>Минутное демо</translation>
    </message>
    <message>
        <source>Run shown</source>
        <translation>Показанный запуск</translation>
    </message>
    <message>
        <source>Find a name or a row number</source>
        <translation>Найти имя или номер строки</translation>
    </message>
    <message>
        <source>Find points</source>
        <translation>Поиск точек</translation>
    </message>
    <message>
        <source>Lights the points that match; Enter goes from one to the next</source>
        <translation>Подсвечивает найденные точки; Enter переходит от одной к другой</translation>
    </message>
    <message>
        <source>The run is about to begin …</source>
        <translation>Запуск сейчас начнётся …</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>шаг %1</translation>
    </message>
    <message>
        <source>dim %1</source>
        <translation>размерность %1</translation>
    </message>
    <message>
        <source>The first points come with the first steps.</source>
        <translation>Первые точки появятся с первыми шагами.</translation>
    </message>
    <message>
        <source>No points were recorded of this run: an older version trained it, or it ended before its first step.</source>
        <translation>Точки этого запуска не записаны: его обучала более старая версия, или он завершился до первого шага.</translation>
    </message>
    <message numerus="yes">
        <source>%n found</source>
        <translation>
            <numerusform>найдена %n</numerusform>
            <numerusform>найдено %n</numerusform>
            <numerusform>найдено %n</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>dsa::ui::FitBars</name>
    <message>
        <source>Table on the simulated card</source>
        <translation>Таблица на имитации карты</translation>
    </message>
    <message>
        <source>Table on the GPU</source>
        <translation>Таблица на GPU</translation>
    </message>
    <message>
        <source>Table in RAM</source>
        <translation>Таблица в ОЗУ</translation>
    </message>
    <message>
        <source>Table on disk</source>
        <translation>Таблица на диске</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>войдёт</translation>
    </message>
    <message>
        <source>tight: less than 15 % to spare</source>
        <translation>впритык: запас менее 15 %</translation>
    </message>
    <message>
        <source>does not fit: needs %1, there is %2</source>
        <translation>не войдёт: нужно %1, есть %2</translation>
    </message>
    <message>
        <source>batch</source>
        <translation>пакет</translation>
    </message>
    <message>
        <source>table on disk (sparse file, page cache as there is room)</source>
        <translation>таблица на диске (разреженный файл, кэш страниц — сколько есть места)</translation>
    </message>
    <message>
        <source>private memory does not grow with the table</source>
        <translation>собственная память не растёт с таблицей</translation>
    </message>
    <message>
        <source>weights</source>
        <translation>веса</translation>
    </message>
    <message>
        <source>moments</source>
        <translation>моменты</translation>
    </message>
    <message>
        <source>simulated card</source>
        <translation>имитация карты</translation>
    </message>
    <message>
        <source>card</source>
        <translation>карта</translation>
    </message>
    <message>
        <source>memory available</source>
        <translation>доступно памяти</translation>
    </message>
    <message>
        <source>Will it fit?</source>
        <translation>Поместится ли?</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>Predicted by the plan. Dark: weights; paler: moments; hatched: reclaimable or simulated.</source>
        <translation>Прогноз плана. Тёмное — веса, светлее — моменты, штриховка — освобождаемое или имитация.</translation>
    </message>
    <message>
        <source>Dashed line: what there is.</source>
        <translation>Штриховая линия — сколько есть.</translation>
    </message>
    <message>
        <source>larger than the disk; only touched rows take room</source>
        <translation>больше диска; место займут лишь затронутые строки</translation>
    </message>
    <message>
        <source>row cache (the budget)</source>
        <translation>кэш строк (в пределах бюджета)</translation>
    </message>
    <message>
        <source>private memory stays within the budget</source>
        <translation>собственная память остаётся в пределах бюджета</translation>
    </message>
</context>
<context>
    <name>dsa::ui::Hardware</name>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>no CUDA device</source>
        <translation>устройства CUDA нет</translation>
    </message>
    <message>
        <source>%1 memory, %2 available</source>
        <translation>память %1, доступно %2</translation>
    </message>
    <message>
        <source>rotational, says the kernel</source>
        <translation>вращающийся, по словам ядра</translation>
    </message>
    <message>
        <source>solid state</source>
        <translation>твердотельный</translation>
    </message>
    <message>
        <source>kind not told</source>
        <translation>вид не сообщён</translation>
    </message>
    <message>
        <source>tables on %1 (%2), %3 free</source>
        <translation>таблицы на %1 (%2), свободно %3</translation>
    </message>
    <message>
        <source>not reported</source>
        <translation>не сообщается</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>%1: %2 of %3 used</source>
        <translation>%1: занято %2 из %3</translation>
    </message>
    <message>
        <source>%1: memory not reported</source>
        <translation>%1: память не сообщается</translation>
    </message>
    <message>
        <source>this process: %1</source>
        <translation>этот процесс: %1</translation>
    </message>
    <message>
        <source>(in a container: its processes have other numbers)</source>
        <translation>(в контейнере: номера процессов другие)</translation>
    </message>
</context>
<context>
    <name>dsa::ui::Launcher</name>
    <message>
        <source>The folder %1 cannot be made; nothing was started. Is it writable?</source>
        <translation>Не удалось создать папку %1; ничего не запущено. Есть ли права на запись?</translation>
    </message>
    <message>
        <source>The spec could not be written to %1 (%2); nothing was started.</source>
        <translation>Не удалось записать спецификацию в %1 (%2); ничего не запущено.</translation>
    </message>
    <message>
        <source>The runner &quot;dsa&quot; was not found beside this program or in PATH; nothing was started. Install the package again, or name it in DSA_RUNNER.</source>
        <translation>Исполнитель «dsa» не найден ни рядом с этой программой, ни в PATH; ничего не запущено. Нужно переустановить пакет или указать исполнителя в DSA_RUNNER.</translation>
    </message>
    <message>
        <source>%1 could not be started: %2. Nothing was changed.</source>
        <translation>Не удалось запустить %1: %2. Ничего не изменено.</translation>
    </message>
    <message>
        <source>The runner ended without a word.</source>
        <translation>Исполнитель завершился, ничего не сообщив.</translation>
    </message>
</context>
<context>
    <name>dsa::ui::LivePage</name>
    <message>
        <source>No run is shown. Start one, or open one from the list of runs.</source>
        <translation>Запуск не выбран. Можно начать новый или открыть один из списка запусков.</translation>
    </message>
    <message>
        <source>New run</source>
        <translation>Новый запуск</translation>
    </message>
    <message>
        <source>Run shown</source>
        <translation>Показанный запуск</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Ход выполнения</translation>
    </message>
    <message>
        <source>Pause view</source>
        <translation>Заморозить графики</translation>
    </message>
    <message>
        <source>The plots stand still; training goes on (Space)</source>
        <translation>Графики замирают, обучение продолжается (Пробел)</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Остановить</translation>
    </message>
    <message>
        <source>Finish the batch, save a checkpoint, end; it can be resumed</source>
        <translation>Закончить пакет, сохранить контрольную точку и завершить; запуск можно возобновить</translation>
    </message>
    <message>
        <source>Evict page cache</source>
        <translation>Вытеснить кэш</translation>
    </message>
    <message>
        <source>Writes the table&apos;s pages and gives their memory back; the next steps read them from the disk</source>
        <translation>Записывает страницы таблицы и освобождает их память; следующие шаги читают их с диска</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Возобновить</translation>
    </message>
    <message>
        <source>Memory, from 0</source>
        <translation>Память, от 0</translation>
    </message>
    <message>
        <source>Page faults per second</source>
        <translation>Страничные сбои в секунду</translation>
    </message>
    <message>
        <source>Disk, per second</source>
        <translation>Диск, в секунду</translation>
    </message>
    <message>
        <source>Loss, mean of the steps between two points</source>
        <translation>Потери: среднее по шагам между двумя точками</translation>
    </message>
    <message>
        <source>Training samples per second</source>
        <translation>Обучающих примеров в секунду</translation>
    </message>
    <message>
        <source>no samples yet</source>
        <translation>замеров пока нет</translation>
    </message>
    <message>
        <source>active time</source>
        <translation>активное время</translation>
    </message>
    <message>
        <source>minor</source>
        <translation>малые</translation>
    </message>
    <message>
        <source>demand</source>
        <translation>по треб.</translation>
    </message>
    <message>
        <source>major</source>
        <translation>большие</translation>
    </message>
    <message>
        <source>read</source>
        <translation>чтение</translation>
    </message>
    <message>
        <source>written</source>
        <translation>запись</translation>
    </message>
    <message>
        <source>Step %1: %2</source>
        <translation>Шаг %1: %2</translation>
    </message>
    <message>
        <source>The trainer&apos;s process is gone. What it had recorded is safe; resume goes on from what was kept.</source>
        <translation>Процесс обучения исчез. Записанное им в сохранности; возобновление продолжит с сохранённого места.</translation>
    </message>
    <message>
        <source>Diverged at step %1: the loss is no number any more. A lower learning rate may help.</source>
        <translation>Расходимость на шаге %1: потери больше не число. Может помочь меньшая скорость обучения.</translation>
    </message>
    <message>
        <source>Stopping …</source>
        <translation>останавливается …</translation>
    </message>
    <message>
        <source>step %1 of %2</source>
        <translation>шаг %1 из %2</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>шаг %1</translation>
    </message>
    <message>
        <source>epoch %1</source>
        <translation>эпоха %1</translation>
    </message>
    <message>
        <source>%1 trained</source>
        <translation>обучение %1</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>потери %1</translation>
    </message>
    <message>
        <source>about %1 left</source>
        <translation>осталось около %1</translation>
    </message>
    <message>
        <source>dim %1</source>
        <translation>размерность %1</translation>
    </message>
    <message>
        <source>table in: %1</source>
        <translation>таблица: %1</translation>
    </message>
    <message>
        <source>Private peak %1</source>
        <translation>Пик собственной памяти %1</translation>
    </message>
    <message>
        <source>Private memory: no sample yet</source>
        <translation>Собственная память: замеров пока нет</translation>
    </message>
    <message>
        <source>page cache %1 (reclaimable)</source>
        <translation>кэш страниц %1 (освобождаемый)</translation>
    </message>
    <message>
        <source>page cache: no sample yet</source>
        <translation>кэш страниц: замеров пока нет</translation>
    </message>
    <message>
        <source>no table on disk</source>
        <translation>таблицы на диске нет</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>Продолжить</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Приостановить</translation>
    </message>
    <message>
        <source>Training goes on</source>
        <translation>Обучение продолжится</translation>
    </message>
    <message>
        <source>Training waits after the batch; memory stays taken</source>
        <translation>Обучение ждёт после пакета; память остаётся занятой</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Запустить</translation>
    </message>
    <message>
        <source>View paused</source>
        <translation>Графики заморожены</translation>
    </message>
    <message>
        <source>memory of the machine %1</source>
        <translation>память машины %1</translation>
    </message>
    <message>
        <source>Memory, from 0; the card is simulated</source>
        <translation>Память, от 0; карта имитируется</translation>
    </message>
    <message>
        <source>card peak %1 (own allocations)</source>
        <translation>пик карты %1 (наши выделения)</translation>
    </message>
    <message>
        <source>simulated card, peak %1</source>
        <translation>имитация карты, пик %1</translation>
    </message>
    <message>
        <source>of it row cache %1</source>
        <translation>из неё кэш строк %1</translation>
    </message>
</context>
<context>
    <name>dsa::ui::MainWindow</name>
    <message>
        <source>DSA Lab</source>
        <translation>DSA Lab</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Начало</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Запуски</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>Наблюдение</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Сравнение</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Файл</translation>
    </message>
    <message>
        <source>New run …</source>
        <translation>Новый запуск …</translation>
    </message>
    <message>
        <source>Open …</source>
        <translation>Открыть …</translation>
    </message>
    <message>
        <source>Export the run …</source>
        <translation>Экспортировать запуск …</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Выход</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Правка</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Отменить</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Повторить</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Переименовать</translation>
    </message>
    <message>
        <source>Archive or take back</source>
        <translation>В архив или обратно</translation>
    </message>
    <message>
        <source>Filter the runs</source>
        <translation>Фильтр запусков</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>&amp;Вид</translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation>Полный экран</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Оформление</translation>
    </message>
    <message>
        <source>Like the system</source>
        <translation>Как в системе</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Светлое</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Тёмное</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>&amp;Запуск</translation>
    </message>
    <message>
        <source>One-minute demo</source>
        <translation>Минутное демо</translation>
    </message>
    <message>
        <source>Pause or continue</source>
        <translation>Приостановить или продолжить</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Остановить</translation>
    </message>
    <message>
        <source>Evict page cache</source>
        <translation>Вытеснить кэш</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Возобновить</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Справка</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Сочетания клавиш</translation>
    </message>
    <message>
        <source>About DSA Lab</source>
        <translation>О программе DSA Lab</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>Инструменты</translation>
    </message>
    <message>
        <source>No run is going on</source>
        <translation>Активных запусков нет</translation>
    </message>
    <message>
        <source>%1 free for tables</source>
        <translation>для таблиц свободно %1</translation>
    </message>
    <message>
        <source>Open an exported run or a database of runs</source>
        <translation>Открыть экспортированный запуск или базу запусков</translation>
    </message>
    <message>
        <source>Runs and databases (*.dsarun *.sqlite);;All files (*)</source>
        <translation>Запуски и базы (*.dsarun *.sqlite);;Все файлы (*)</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) were imported.</source>
        <translation>
            <numerusform>Импортирован %n запуск.</numerusform>
            <numerusform>Импортировано %n запуска.</numerusform>
            <numerusform>Импортировано %n запусков.</numerusform>
        </translation>
    </message>
    <message>
        <source>Export the run</source>
        <translation>Экспорт запуска</translation>
    </message>
    <message>
        <source>Exported run (*.dsarun)</source>
        <translation>Экспортированный запуск (*.dsarun)</translation>
    </message>
    <message>
        <source>Exported to %1.</source>
        <translation>Экспортировано в %1.</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>Пробел</translation>
    </message>
    <message>
        <source>Pause the view of the live plots</source>
        <translation>Заморозить графики наблюдения</translation>
    </message>
    <message>
        <source>&lt;h3&gt;DSA Lab %1&lt;/h3&gt;&lt;p&gt;Embedding tables on disk, and what they cost.&lt;/p&gt;&lt;p&gt;The window is free software under the GPL, version 3 or later (it uses QCustomPlot); the runner &quot;dsa&quot; and its library are under the Apache License 2.0.&lt;/p&gt;</source>
        <translation>&lt;h3&gt;DSA Lab %1&lt;/h3&gt;&lt;p&gt;Таблицы эмбеддингов на диске и чего они стоят.&lt;/p&gt;&lt;p&gt;Окно — свободная программа под GPL версии 3 или новее (использует QCustomPlot); исполнитель «dsa» и его библиотека распространяются под Apache License 2.0.&lt;/p&gt;</translation>
    </message>
    <message>
        <source>Loss on a logarithmic axis</source>
        <translation>Потери на логарифмической оси</translation>
    </message>
    <message>
        <source>Delete the table …</source>
        <translation>Удалить таблицу …</translation>
    </message>
    <message>
        <source>Keep the demo&apos;s table</source>
        <translation>Сохранять таблицу демо</translation>
    </message>
    <message>
        <source>The demo is done. Its table stays on the disk, as you asked.</source>
        <translation>Демо завершено. Его таблица остаётся на диске, как вы просили.</translation>
    </message>
    <message>
        <source>The demo is done. Its table is deleted from the disk; both records stay.</source>
        <translation>Демо завершено. Его таблица удаляется с диска; обе записи остаются.</translation>
    </message>
    <message>
        <source>Archive</source>
        <translation>В архив</translation>
    </message>
    <message>
        <source>One arm of the demo would take longer than two minutes here. It was started again with %1 steps, the same in both arms; what had begun is in the archive.</source>
        <translation>Здесь один прогон демо занял бы больше двух минут. Демо начато заново: %1 шагов, одинаково для обоих прогонов; начатое лежит в архиве.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Закрыть</translation>
    </message>
    <message>
        <source>Embedding</source>
        <translation>Вложение</translation>
    </message>
    <message>
        <source>Second act: mammals unfold in the Poincaré disk.</source>
        <translation>Второе действие: млекопитающие разворачиваются в диске Пуанкаре.</translation>
    </message>
    <message>
        <source>Watch the second act</source>
        <translation>Смотреть второе действие</translation>
    </message>
</context>
<context>
    <name>MemoryText</name>
    <message>
        <source>page cache</source>
        <translation>кэш страниц</translation>
    </message>
    <message>
        <source>private</source>
        <translation>собственная</translation>
    </message>
    <message>
        <source>GPU, own allocations</source>
        <translation>GPU, наши выделения</translation>
    </message>
    <message>
        <source>simulated card</source>
        <translation>имитация карты</translation>
    </message>
    <message>
        <source>Private: %1. Page cache: %2.</source>
        <translation>Собственная: %1. Кэш страниц: %2.</translation>
    </message>
    <message>
        <source>GPU: %1.</source>
        <translation>GPU: %1.</translation>
    </message>
    <message>
        <source>Simulated card: %1; it is part of the private memory, too.</source>
        <translation>Имитация карты: %1; она входит и в собственную память.</translation>
    </message>
</context>
<context>
    <name>dsa::ui::NewRunDialog</name>
    <message>
        <source>Poincare distance</source>
        <translation>Расстояние Пуанкаре</translation>
    </message>
    <message>
        <source>Euclidean distance</source>
        <translation>Евклидово расстояние</translation>
    </message>
    <message>
        <source>TransE</source>
        <translation>TransE</translation>
    </message>
    <message>
        <source>DistMult</source>
        <translation>DistMult</translation>
    </message>
    <message>
        <source>Adam</source>
        <translation>Adam</translation>
    </message>
    <message>
        <source>Riemannian Adam</source>
        <translation>Риманов Adam</translation>
    </message>
    <message>
        <source>Riemannian SGD</source>
        <translation>Риманов SGD</translation>
    </message>
    <message>
        <source>row Adagrad</source>
        <translation>построчный Adagrad</translation>
    </message>
    <message>
        <source>DSA original</source>
        <translation>исходный DSA</translation>
    </message>
    <message>
        <source>New run</source>
        <translation>Новый запуск</translation>
    </message>
    <message>
        <source>by default</source>
        <translation>по умолчанию</translation>
    </message>
    <message>
        <source>Recipe</source>
        <translation>Рецепт</translation>
    </message>
    <message>
        <source>Dataset</source>
        <translation>Набор данных</translation>
    </message>
    <message>
        <source>A bundled set, zipf:ROWS, tree:BRANCHING,DEPTH, or a file of your own; drop a file here</source>
        <translation>Встроенный набор, zipf:СТРОКИ, tree:ВЕТВЛЕНИЕ,ГЛУБИНА или свой файл; файл можно перетащить сюда</translation>
    </message>
    <message>
        <source>Choose a dataset file</source>
        <translation>Выбрать файл набора данных</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Модель</translation>
    </message>
    <message>
        <source>What scores a pair or triple</source>
        <translation>Чем оценивается пара или тройка</translation>
    </message>
    <message>
        <source>Dimension</source>
        <translation>Размерность</translation>
    </message>
    <message>
        <source>Coordinates of a row</source>
        <translation>Число координат строки</translation>
    </message>
    <message>
        <source>Euclidean</source>
        <translation>Евклидова</translation>
    </message>
    <message>
        <source>Poincare</source>
        <translation>Пуанкаре</translation>
    </message>
    <message>
        <source>Curvature k</source>
        <translation>Кривизна k</translation>
    </message>
    <message>
        <source>Magnitude of the curvature of the Poincare ball; 0 is Euclidean</source>
        <translation>Модуль кривизны шара Пуанкаре; 0 — евклидова геометрия</translation>
    </message>
    <message>
        <source>k</source>
        <translation>k</translation>
    </message>
    <message>
        <source>Geometry</source>
        <translation>Геометрия</translation>
    </message>
    <message>
        <source>Rule</source>
        <translation>Правило</translation>
    </message>
    <message>
        <source>How a row is updated</source>
        <translation>Как обновляется строка</translation>
    </message>
    <message>
        <source>Table in</source>
        <translation>Где таблица</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Диск</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>ОЗУ</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>RAM, then disk (compare)</source>
        <translation>ОЗУ, затем диск (сравнить)</translation>
    </message>
    <message>
        <source>Where weights and moments lie; a pair runs the same rule in two places, one after the other</source>
        <translation>Где лежат веса и моменты; пара выполняет одно и то же правило в двух местах по очереди</translation>
    </message>
    <message>
        <source>Cache folder</source>
        <translation>Папка кэша</translation>
    </message>
    <message>
        <source>Where the table&apos;s files lie; it is made where it is missing</source>
        <translation>Где лежат файлы таблицы; если папки нет, она создаётся</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation>Выбрать папку</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Устройство</translation>
    </message>
    <message>
        <source>cpu, or sim:SIZE: a simulated card that counts and refuses as a card of that size would</source>
        <translation>cpu или sim:РАЗМЕР — имитация карты: ведёт счёт и отказывает, как карта такого объёма</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>Эпохи</translation>
    </message>
    <message>
        <source>Passes over the training samples</source>
        <translation>Число проходов по обучающим примерам</translation>
    </message>
    <message>
        <source>Steps at most</source>
        <translation>Шагов не более</translation>
    </message>
    <message>
        <source>End after this many batches; 0 is whole epochs</source>
        <translation>Завершить после стольких пакетов; 0 — целые эпохи</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>Пакет</translation>
    </message>
    <message>
        <source>Training samples of a step</source>
        <translation>Обучающих примеров на шаг</translation>
    </message>
    <message>
        <source>Negatives</source>
        <translation>Негативы</translation>
    </message>
    <message>
        <source>Corrupted samples for each true one</source>
        <translation>Искажённых примеров на каждый верный</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>Скорость обучения</translation>
    </message>
    <message>
        <source>Step length; its default depends on the rule</source>
        <translation>Длина шага; значение по умолчанию зависит от правила</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Зерно</translation>
    </message>
    <message>
        <source>Of all random numbers: one seed, one table, bit for bit</source>
        <translation>Для всех случайных чисел: одно зерно — одна таблица, бит в бит</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Потоки</translation>
    </message>
    <message>
        <source>Changes the speed only, never the result</source>
        <translation>Влияет только на быстроту, но не на результат</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Имя</translation>
    </message>
    <message>
        <source>In lists; empty: made from the dataset</source>
        <translation>Для списков; если пусто, составляется по набору данных</translation>
    </message>
    <message>
        <source>Will it fit?</source>
        <translation>Поместится ли?</translation>
    </message>
    <message>
        <source>Problem</source>
        <translation>Проблема</translation>
    </message>
    <message>
        <source>Copy command line</source>
        <translation>Копировать команду</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>В очередь</translation>
    </message>
    <message>
        <source>Record it now; it starts when no other run is going on and this window is open</source>
        <translation>Записать сейчас; начнётся, когда другие запуски не идут и это окно открыто</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Запустить</translation>
    </message>
    <message>
        <source>none: defaults for the dataset</source>
        <translation>нет: значения по умолчанию для набора</translation>
    </message>
    <message>
        <source>Choose a dataset.</source>
        <translation>Нужно выбрать набор данных.</translation>
    </message>
    <message>
        <source>Curvature k: the Poincare ball needs a number above 0; for 0 choose Euclidean.</source>
        <translation>Кривизна k: шару Пуанкаре нужно число больше 0; для 0 — евклидова геометрия.</translation>
    </message>
    <message>
        <source>reading …</source>
        <translation>чтение …</translation>
    </message>
    <message>
        <source>The dataset is being read.</source>
        <translation>Набор данных читается.</translation>
    </message>
    <message>
        <source>Without a dataset there is nothing to plan.</source>
        <translation>Без набора данных планировать нечего.</translation>
    </message>
    <message>
        <source>%1 steps in all, %2 rows a step at most</source>
        <translation>Всего шагов: %1; строк на шаг, не более: %2</translation>
    </message>
    <message>
        <source>This version trains on a simulated card only: choose Device sim:SIZE, or put the table on disk.</source>
        <translation>На карте эта версия обучает только в имитации: нужно устройство sim:РАЗМЕР или таблица на диске.</translation>
    </message>
    <message>
        <source>by default: %1</source>
        <translation>по умолчанию: %1</translation>
    </message>
    <message>
        <source>not writable: choose another folder</source>
        <translation>нет прав на запись: нужна другая папка</translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation>свободно %1</translation>
    </message>
    <message>
        <source>this is memory, not a disk</source>
        <translation>это память, а не диск</translation>
    </message>
    <message>
        <source>on the network: rows will be slow</source>
        <translation>в сети: работа со строками будет медленной</translation>
    </message>
    <message>
        <source>the kernel calls the disk rotational</source>
        <translation>по данным ядра диск вращающийся</translation>
    </message>
    <message>
        <source>The cache folder %1 is not writable; choose another one.</source>
        <translation>Нет прав на запись в папку кэша %1; нужна другая.</translation>
    </message>
    <message>
        <source>Choose a folder for the table</source>
        <translation>Выбрать папку для таблицы</translation>
    </message>
    <message>
        <source>No plan yet: see the message below.</source>
        <translation>Плана пока нет: см. сообщение ниже.</translation>
    </message>
    <message>
        <source>Memory for rows</source>
        <translation>Память под строки</translation>
    </message>
    <message>
        <source>Most memory for rows of a table on disk, such as 256 MiB; with it they are kept in a cache of the run&apos;s own</source>
        <translation>Сколько памяти могут занимать строки таблицы на диске, например 256 MiB; тогда они лежат в собственном кэше запуска</translation>
    </message>
    <message>
        <source>no budget</source>
        <translation>без ограничения</translation>
    </message>
</context>
<context>
    <name>dsa::ui::Plot</name>
    <message numerus="yes">
        <source>not a number: %n value(s), first at %1</source>
        <extracomment>%n is how many values of the series are NaN or infinite, %1 the first place on the axis</extracomment>
        <translation>
            <numerusform>не число: %n значение, первое при %1</numerusform>
            <numerusform>не число: %n значения, первое при %1</numerusform>
            <numerusform>не число: %n значений, первое при %1</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 с</translation>
    </message>
    <message numerus="yes">
        <source>zero or less, not drawn: %n value(s)</source>
        <extracomment>on a logarithmic axis</extracomment>
        <translation>
            <numerusform>ноль и меньше, не показано: %n значение</numerusform>
            <numerusform>ноль и меньше, не показано: %n значения</numerusform>
            <numerusform>ноль и меньше, не показано: %n значений</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>dsa::ui::RecordsService</name>
    <message>
        <source>Send the order &quot;%1&quot;</source>
        <translation>Отправка команды «%1»</translation>
    </message>
</context>
<context>
    <name>RunText</name>
    <message>
        <source>queued</source>
        <translation>в очереди</translation>
    </message>
    <message>
        <source>running</source>
        <translation>идёт</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>пауза</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>завершён</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>остановлен</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>прерван</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>сбой</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>отклонён</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Диск</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>ОЗУ</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>Adam</source>
        <translation>Adam</translation>
    </message>
    <message>
        <source>Riemannian Adam</source>
        <translation>Риманов Adam</translation>
    </message>
    <message>
        <source>Riemannian SGD</source>
        <translation>Риманов SGD</translation>
    </message>
    <message>
        <source>row Adagrad</source>
        <translation>построчный Adagrad</translation>
    </message>
    <message>
        <source>DSA original</source>
        <translation>исходный DSA</translation>
    </message>
    <message>
        <source>Poincare distance</source>
        <translation>Расстояние Пуанкаре</translation>
    </message>
    <message>
        <source>Euclidean distance</source>
        <translation>Евклидово расстояние</translation>
    </message>
    <message>
        <source>TransE</source>
        <translation>TransE</translation>
    </message>
    <message>
        <source>DistMult</source>
        <translation>DistMult</translation>
    </message>
    <message>
        <source>Euclidean</source>
        <translation>евклидова</translation>
    </message>
    <message>
        <source>k = %1</source>
        <translation>k = %1</translation>
    </message>
</context>
<context>
    <name>dsa::ui::RunsModel</name>
    <message>
        <source>Peak of RssAnon + VmPTE + VmSwap of the trainer</source>
        <translation>Пик RssAnon + VmPTE + VmSwap процесса обучения</translation>
    </message>
    <message>
        <source>Peak of the page cache of the table&apos;s files: reclaimable, never counted as private</source>
        <translation>Пик кэша страниц файлов таблицы: освобождаемый, в собственную память не входит</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Запуск</translation>
    </message>
    <message>
        <source>Status</source>
        <translation>Статус</translation>
    </message>
    <message>
        <source>Dataset</source>
        <translation>Данные</translation>
    </message>
    <message>
        <source>Dim</source>
        <translation>Dim</translation>
    </message>
    <message>
        <source>k</source>
        <translation>k</translation>
    </message>
    <message>
        <source>Rule</source>
        <translation>Правило</translation>
    </message>
    <message>
        <source>Table in</source>
        <translation>Где таблица</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Потери</translation>
    </message>
    <message>
        <source>Private peak</source>
        <translation>Пик собств.</translation>
    </message>
    <message>
        <source>Page cache</source>
        <translation>Кэш страниц</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Время</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>Начат</translation>
    </message>
</context>
<context>
    <name>dsa::ui::RunsPage</name>
    <message numerus="yes">
        <source>%n value(s)</source>
        <translation>
            <numerusform>%n значение</numerusform>
            <numerusform>%n значения</numerusform>
            <numerusform>%n значений</numerusform>
        </translation>
    </message>
    <message>
        <source>Filter: words, or dim&gt;=128 k=0 status:done place:disk</source>
        <translation>Фильтр: слова или dim&gt;=128 k=0 status:done place:disk</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>Фильтр</translation>
    </message>
    <message>
        <source>Archived</source>
        <translation>Архивные</translation>
    </message>
    <message>
        <source>Show archived runs, too</source>
        <translation>Показать и архивные запуски</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Запуски</translation>
    </message>
    <message>
        <source>Details of the run</source>
        <translation>Сведения о запуске</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Ключ</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>Значение</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>Заметки</translation>
    </message>
    <message>
        <source>Rename the run</source>
        <translation>переименование запуска</translation>
    </message>
    <message>
        <source>Archive</source>
        <translation>Архивировать</translation>
    </message>
    <message>
        <source>Take back from the archive</source>
        <translation>Вернуть из архива</translation>
    </message>
    <message>
        <source>Change the notes</source>
        <translation>изменение заметок</translation>
    </message>
    <message numerus="yes">
        <source>%n runs are selected.</source>
        <translation>
            <numerusform>Выбран %n запуск.</numerusform>
            <numerusform>Выбрано %n запуска.</numerusform>
            <numerusform>Выбрано %n запусков.</numerusform>
        </translation>
    </message>
    <message>
        <source>Details</source>
        <translation>Сведения</translation>
    </message>
    <message>
        <source>Select a run to see what it was and what came of it.</source>
        <translation>Здесь видно, чем был выбранный запуск и что из него вышло.</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Результат</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Параметры</translation>
    </message>
    <message>
        <source>Versions</source>
        <translation>Версии</translation>
    </message>
    <message>
        <source>Machine</source>
        <translation>Машина</translation>
    </message>
    <message>
        <source>Table&apos;s folder</source>
        <translation>Папка таблицы</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Показать</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Сравнить</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Запустить</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Возобновить</translation>
    </message>
    <message>
        <source>Duplicate …</source>
        <translation>Дублировать …</translation>
    </message>
    <message>
        <source>Copy command line</source>
        <translation>Копировать команду</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Переименовать</translation>
    </message>
    <message>
        <source>%1 of %2 runs</source>
        <translation>Запуски: %1 из %2</translation>
    </message>
    <message numerus="yes">
        <source>%n running</source>
        <translation>
            <numerusform>%n идёт</numerusform>
            <numerusform>%n идут</numerusform>
            <numerusform>%n идут</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n interrupted</source>
        <translation>
            <numerusform>%n прерван</numerusform>
            <numerusform>%n прервано</numerusform>
            <numerusform>%n прервано</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete the table …</source>
        <translation>Удалить таблицу …</translation>
    </message>
</context>
<context>
    <name>dsa::ui::Scatter</name>
    <message>
        <source>Points of the embedding</source>
        <translation>Точки вложения</translation>
    </message>
    <message>
        <source>%1 points after step %2</source>
        <translation>Точек: %1, после шага %2</translation>
    </message>
    <message>
        <source>Row %1</source>
        <translation>Строка %1</translation>
    </message>
    <message>
        <source>x %1, y %2</source>
        <translation>x %1, y %2</translation>
    </message>
    <message>
        <source>norm %1</source>
        <translation>норма %1</translation>
    </message>
    <message>
        <source>%1, distance from the centre %2</source>
        <translation>%1, расстояние от центра %2</translation>
    </message>
    <message>
        <source>Rings: distance 1 to %1 from the centre</source>
        <translation>Кольца: расстояние от центра 1–%1</translation>
    </message>
</context>
<context>
    <name>dsa::ui::StartPage</name>
    <message>
        <source>DSA Lab</source>
        <translation>DSA Lab</translation>
    </message>
    <message>
        <source>Adam keeps two moments for every weight, yet a batch touches a sliver of a large embedding table. Here the table lies on disk, and you watch what that saves and what it costs.</source>
        <translation>Adam хранит два момента на каждый вес, а пакет затрагивает лишь малую долю большой таблицы эмбеддингов. Здесь таблица лежит на диске, и видно, что это экономит и чего стоит.</translation>
    </message>
    <message>
        <source>Try the one-minute demo</source>
        <translation>Минутное демо</translation>
    </message>
    <message>
        <source>New run</source>
        <translation>Новый запуск</translation>
    </message>
    <message>
        <source>Pick a dataset, a dimension, a geometry and where the table lies; see at once whether it fits.</source>
        <translation>Выбор набора данных, размерности, геометрии и места таблицы; сразу видно, поместится ли она.</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Открыть</translation>
    </message>
    <message>
        <source>An exported run, or another database of runs. You can drop it on this window, too.</source>
        <translation>Экспортированный запуск или другая база запусков. Файл можно и перетащить в это окно.</translation>
    </message>
    <message>
        <source>This machine</source>
        <translation>Эта машина</translation>
    </message>
    <message>
        <source>This machine: %1</source>
        <translation>Эта машина: %1</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) were interrupted. What they had recorded is safe.</source>
        <translation>
            <numerusform>Прерван %n запуск. Записанное им в сохранности.</numerusform>
            <numerusform>Прервано %n запуска. Записанное ими в сохранности.</numerusform>
            <numerusform>Прервано %n запусков. Записанное ими в сохранности.</numerusform>
        </translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Показать</translation>
    </message>
</context>
<context>
    <name>Units</name>
    <message>
        <source>B</source>
        <translation>Б</translation>
    </message>
    <message>
        <source>KiB</source>
        <translation>КиБ</translation>
    </message>
    <message>
        <source>MiB</source>
        <translation>МиБ</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>ГиБ</translation>
    </message>
    <message>
        <source>TiB</source>
        <translation>ТиБ</translation>
    </message>
    <message>
        <source>PiB</source>
        <translation>ПиБ</translation>
    </message>
    <message>
        <source>%1/s</source>
        <extracomment>%1 is an amount, as &quot;12.00 MiB&quot;</extracomment>
        <translation>%1/с</translation>
    </message>
    <message>
        <source>NaN</source>
        <translation>NaN</translation>
    </message>
    <message>
        <source>%1 s</source>
        <extracomment>seconds</extracomment>
        <translation>%1 с</translation>
    </message>
    <message>
        <source>%1 /s</source>
        <extracomment>per second</extracomment>
        <translation>%1 /с</translation>
    </message>
</context>
</TS>
