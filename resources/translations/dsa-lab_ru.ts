<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ru_RU">
<context>
    <name>dsa::ui::Banner</name>
    <message>
        <source>Dismiss the message</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::ComparePage</name>
    <message>
        <source>Two runs stand side by side here: select them in the list, or let the demo make them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run the one-minute demo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run A</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run B</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Swap A and B</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>B</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss by step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss by active time: the price</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Page faults per second, minor and major</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>active time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read from disk, per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no samples yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Result</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Results</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Parameter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Differences</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Differences only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>page cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>private</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A minor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>B minor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A major</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>B major</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>choose a run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>starts after the first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of A</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of B</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>table in: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss by step: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not like for like: %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private peak %1 → %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>page cache of B %1 (reclaimable)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>page cache of A %1 (reclaimable)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>time %1 ×</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ComparisonText</name>
    <message>
        <source>content of the dataset (sha256)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>private peak</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>page cache, peak</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>device peak</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>samples per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>final loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>MAP</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>mean rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>MRR</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hits@10</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>major faults</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>minor faults</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>read from disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dirtied for disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the datasets&apos; content differs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 differs (%2 and %3)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>difference 0, identical bits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>difference 0</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the losses differ</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::DatasetProbe</name>
    <message>
        <source>hierarchy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 entities</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 training edges</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>knowledge graph</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 relations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 training triples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>synthetic pairs by a Zipf law</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 rows</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::DemoDirector</name>
    <message>
        <source>A table of %1 rows (%2), trained twice with the same bits: in RAM, then on disk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Under 4 GiB of memory are available: a quarter of the usual rows.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Demo %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::FitBars</name>
    <message>
        <source>Table on the simulated card</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table on the GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table in RAM</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table on disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tight: less than 15 % to spare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>does not fit: needs %1, there is %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>table on disk (sparse file, page cache as there is room)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>private memory does not grow with the table</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the whole table would not fit on the disk; only touched rows take room</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>moments</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>simulated card</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>card</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>memory available</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Will it fit?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Predicted by the plan. Dark: weights; paler: moments; hatched: reclaimable or simulated.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dashed line: what there is.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::Hardware</name>
    <message>
        <source>%1, %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no CUDA device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 memory, %2 available</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tables on %1, %2 free</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::Launcher</name>
    <message>
        <source>The folder %1 cannot be made; nothing was started. Is it writable?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The spec could not be written to %1 (%2); nothing was started.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The runner &quot;dsa&quot; was not found beside this program or in PATH; nothing was started. Install the package again, or name it in DSA_RUNNER.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 could not be started: %2. Nothing was changed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The runner ended without a word.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::LivePage</name>
    <message>
        <source>No run is shown. Start one, or open one from the list of runs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Progress</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause view</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The plots stand still; training goes on (Space)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finish the batch, save a checkpoint, end; it can be resumed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evict page cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writes the table&apos;s pages and gives their memory back; the next steps read them from the disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory, from 0</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Page faults per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk, per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss, mean of the steps between two points</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training samples per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no samples yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>active time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>page cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>private</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>minor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>demand</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>major</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step %1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private: %1. Page cache: %2.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The trainer&apos;s process is gone. What it had recorded is safe; resume goes on from what was kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Diverged at step %1: the loss is no number any more. A lower learning rate may help.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step %1 of %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>epoch %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>about %1 left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dim %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>table in: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private peak %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private memory: no sample yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>page cache %1 (reclaimable)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>page cache: no sample yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no table on disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training goes on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training waits after the batch; memory stays taken</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>View paused</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::MainWindow</name>
    <message>
        <source>DSA Lab</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The demo is done. Its table still lies on the disk; &quot;dsa runs rm %1&quot; removes run and table.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Live</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New run …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export the run …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Redo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Archive or take back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter the runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full screen</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Like the system</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One-minute demo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause or continue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Evict page cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About DSA Lab</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tools</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No run is going on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 free for tables</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open an exported run or a database of runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs and databases (*.dsarun *.sqlite);;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) were imported.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Export the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exported run (*.dsarun)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exported to %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Space</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause the view of the live plots</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&lt;h3&gt;DSA Lab %1&lt;/h3&gt;&lt;p&gt;Embedding tables on disk, and what they cost.&lt;/p&gt;&lt;p&gt;The window is free software under the GPL, version 3 or later (it uses QCustomPlot); the runner &quot;dsa&quot; and its library are under the Apache License 2.0.&lt;/p&gt;</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::NewRunDialog</name>
    <message>
        <source>Poincare distance</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Euclidean distance</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>TransE</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DistMult</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adam</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Riemannian Adam</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Riemannian SGD</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>row Adagrad</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DSA original</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>by default</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recipe</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dataset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A bundled set, zipf:ROWS, tree:BRANCHING,DEPTH, or a file of your own; drop a file here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a dataset file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What scores a pair or triple</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dimension</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Coordinates of a row</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Euclidean</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Poincare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Curvature k</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Magnitude of the curvature of the Poincare ball; 0 is Euclidean</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>k</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Geometry</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rule</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How a row is updated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>RAM</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>RAM, then disk (compare)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where weights and moments lie; a pair runs the same rule in two places, one after the other</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cache folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the table&apos;s files lie; it is made where it is missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cpu, or sim:SIZE: a simulated card that counts and refuses as a card of that size would</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Passes over the training samples</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End after this many batches; 0 is whole epochs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training samples of a step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Negatives</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Corrupted samples for each true one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step length; its default depends on the rule</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of all random numbers: one seed, one table, bit for bit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Threads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changes the speed only, never the result</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In lists; empty: made from the dataset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Will it fit?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Problem</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy command line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Queue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Record it now; it starts when no other run is going on and this window is open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none: defaults for the dataset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a dataset.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Curvature k: the Poincare ball needs a number above 0; for 0 choose Euclidean.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The dataset is being read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Without a dataset there is nothing to plan.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 steps in all, %2 rows a step at most</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This version trains on a simulated card only: choose Device sim:SIZE, or put the table on disk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>by default: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not writable: choose another folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this is memory, not a disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on the network: rows will be slow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the kernel calls the disk rotational</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The cache folder %1 is not writable; choose another one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a folder for the table</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::Plot</name>
    <message numerus="yes">
        <source>not a number: %n value(s), first at %1</source>
        <extracomment>%n is how many values of the series are NaN or infinite, %1 the first place on the axis</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::RecordsService</name>
    <message>
        <source>Send the order &quot;%1&quot;</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RunText</name>
    <message>
        <source>queued</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>paused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>refused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>RAM</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adam</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Riemannian Adam</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Riemannian SGD</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>row Adagrad</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DSA original</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Poincare distance</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Euclidean distance</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>TransE</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DistMult</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Euclidean</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>k = %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::RunsModel</name>
    <message>
        <source>Peak of RssAnon + VmPTE + VmSwap of the trainer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peak of the page cache of the table&apos;s files: reclaimable, never counted as private</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Status</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dataset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dim</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>k</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rule</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private peak</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Page cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Started</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>dsa::ui::RunsPage</name>
    <message numerus="yes">
        <source>%n value(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Filter: words, or dim&gt;=128 k=0 status:done place:disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Filter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Archived</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show archived runs, too</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Value</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Notes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take back from the archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change the notes</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n runs are selected.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Details</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select a run to see what it was and what came of it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Result</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Versions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table&apos;s folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Duplicate …</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy command line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 of %2 runs</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n running</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n interrupted</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
</context>
<context>
    <name>dsa::ui::StartPage</name>
    <message>
        <source>DSA Lab</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adam keeps two moments for every weight, yet a batch touches a sliver of a large embedding table. Here the table lies on disk, and you watch what that saves and what it costs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try the one-minute demo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pick a dataset, a dimension, a geometry and where the table lies; see at once whether it fits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An exported run, or another database of runs. You can drop it on this window, too.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine: %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n run(s) were interrupted. What they had recorded is safe.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Show</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Units</name>
    <message>
        <source>B</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>MiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>TiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>PiB</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1/s</source>
        <extracomment>%1 is an amount, as &quot;12.00 MiB&quot;</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>NaN</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 s</source>
        <extracomment>seconds</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 /s</source>
        <extracomment>per second</extracomment>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
