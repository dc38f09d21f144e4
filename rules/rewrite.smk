rule rewrite:
    input:
        stage_target("rewrite"),


rule rewrite_pairs:
    input:
        sets=rewriter_training_sets,
        evaluation=unit_file("embed", "evaluation.parquet", "evaluation"),
    output:
        shards=expand(
            "<results>/rewrite/{{rewriter}}-pairs/{{version}}/{shard}.parquet", shard=EARLY
        ),
        records=expand("<results>/rewrite/{{rewriter}}-pairs/{{version}}/{shard}.json", shard=EARLY),
    params:
        config=unit_config("rewrite", "{rewriter}-pairs"),
        folder=unit_folder("rewrite", "{rewriter}-pairs"),
        shards=len(EARLY),
    log:
        "<results>/logs/rewrite/{rewriter}-pairs/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-pairs/{version}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.rewrite.training_pairs --config {params.config:q}"
        " --training-sets {input.sets:q} --evaluation {input.evaluation:q} --shards {params.shards}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


rule rewrite_parse:
    input:
        pairs=unit_file("rewrite", "{shard}.parquet", "{rewriter}-pairs"),
    output:
        trees="<results>/rewrite/{rewriter}-parses/{version}/{shard}.parquet",
        record="<results>/rewrite/{rewriter}-parses/{version}/{shard}.json",
    params:
        config=unit_config("rewrite", "{rewriter}-parses"),
        inputs=unit_inputs("rewrite", "{rewriter}-parses"),
    log:
        "<results>/logs/rewrite/{rewriter}-parses/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-parses/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(6000),
        runtime=grows(1440),
        device=COMPUTE["device"],
    conda:
        "../envs/syntax.yaml"
    shell:
        "python -m workflow_scripts.stages.rewrite.parses --config {params.config:q}"
        " --inputs {params.inputs:q}"
        " --input {input.pairs:q} --device {resources.device} --threads {threads}"
        " --output {output.trees:q} 2>&1 | tee {log:q}"


rule rewrite_templates:
    input:
        pairs=unit_file("rewrite", "manifest.json", "{rewriter}-pairs"),
        trees=unit_file("rewrite", "manifest.json", "{rewriter}-parses"),
    output:
        shards=expand(
            "<results>/rewrite/{{rewriter}}-templates/{{version}}/{shard}.parquet", shard=EARLY
        ),
        records=expand(
            "<results>/rewrite/{{rewriter}}-templates/{{version}}/{shard}.json", shard=EARLY
        ),
        table="<results>/rewrite/{rewriter}-templates/{version}/templates.tsv",
        record="<results>/rewrite/{rewriter}-templates/{version}/templates.json",
    params:
        config=unit_config("rewrite", "{rewriter}-templates"),
        pairs=unit_folder("rewrite", "{rewriter}-pairs"),
        trees=unit_folder("rewrite", "{rewriter}-parses"),
        folder=unit_folder("rewrite", "{rewriter}-templates"),
        shards=len(EARLY),
    log:
        "<results>/logs/rewrite/{rewriter}-templates/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-templates/{version}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/syntax.yaml"
    shell:
        "python -m workflow_scripts.stages.rewrite.template_pairs --config {params.config:q}"
        " --pairs {params.pairs:q} --trees {params.trees:q} --shards {params.shards}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


rule rewrite_vocabulary:
    input:
        taken=vocabulary_model,
        texts=texts_file("manifest.json"),
    output:
        model="<results>/rewrite/{rewriter}-subword/{version}/{side}.model",
        record="<results>/rewrite/{rewriter}-subword/{version}/{side}.json",
    params:
        config=rewriter_vocabulary_config,
        taken=vocabulary_options,
        templates=symbol_options,
        folder=texts_folder,
        shards=len(EARLY),
    log:
        "<results>/logs/rewrite/{rewriter}-subword/{version}/{side}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-subword/{version}/{side}.tsv"
    resources:
        mem_mb=grows(8000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.rewrite.side_vocabulary --config {params.config:q}"
        " --folder {params.folder:q} --shards {params.shards} {params.taken:q}"
        " {params.templates:q} --output {output.model:q} 2>&1 | tee {log:q}"


rule rewrite_segment:
    input:
        pairs=texts_file("{shard}.parquet"),
        source="<results>/rewrite/{rewriter}-subword/{version}/source.model",
        reference="<results>/rewrite/{rewriter}-subword/{version}/reference.model",
    output:
        segments="<results>/rewrite/{rewriter}-subword/{version}/{shard}.parquet",
        record="<results>/rewrite/{rewriter}-subword/{version}/{shard}.json",
    params:
        config=unit_config("rewrite", "{rewriter}-subword"),
    log:
        "<results>/logs/rewrite/{rewriter}-subword/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-subword/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.rewrite.segment_pairs --config {params.config:q}"
        " --input {input.pairs:q} --source-model {input.source:q}"
        " --reference-model {input.reference:q} --output {output.segments:q} 2>&1 | tee {log:q}"


# The checkpoints in work/ are no output: see rule train_model.
rule rewrite_train:
    input:
        segments=unit_file("rewrite", "manifest.json", "{trained_rewriter}-subword"),
        pairs=unit_file("rewrite", "manifest.json", "{trained_rewriter}-pairs"),
        templates=templates_table,
        source=unit_file("rewrite", "source.model", "{trained_rewriter}-subword"),
        reference=unit_file("rewrite", "reference.model", "{trained_rewriter}-subword"),
    output:
        model="<results>/rewrite/{trained_rewriter}/{version}/model.json",
    params:
        config=unit_config("rewrite", "{trained_rewriter}"),
        segments=unit_folder("rewrite", "{trained_rewriter}-subword"),
        templates=templates_options,
        shards=len(EARLY),
        folder=unit_folder("rewrite", "{trained_rewriter}"),
    log:
        "<results>/logs/rewrite/{trained_rewriter}/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{trained_rewriter}/{version}.tsv"
    threads: COMPUTE["train_threads"]
    resources:
        mem_mb=grows(8000),
        runtime=grows(2880),
        device=COMPUTE["device"],
    conda:
        "../envs/nmt.yaml"
    shell:
        "python -m workflow_scripts.stages.rewrite.train --config {params.config:q}"
        " --folder {params.segments:q} --shards {params.shards} --pairs {input.pairs:q}"
        " --source-model {input.source:q} --reference-model {input.reference:q}"
        " {params.templates:q}"
        " --work {params.folder:q}/work --device {resources.device} --threads {threads}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


rule rewrite_continue:
    input:
        segments=unit_file("rewrite", "manifest.json", "{continued_rewriter}-subword"),
        pairs=unit_file("rewrite", "manifest.json", "{continued_rewriter}-pairs"),
        model=beginning_model,
        templates=templates_table,
    output:
        model="<results>/rewrite/{continued_rewriter}/{version}/model.json",
    params:
        config=unit_config("rewrite", "{continued_rewriter}"),
        segments=unit_folder("rewrite", "{continued_rewriter}-subword"),
        shards=len(EARLY),
        folder=unit_folder("rewrite", "{continued_rewriter}"),
        model=beginning_folder,
        templates=templates_options,
    log:
        "<results>/logs/rewrite/{continued_rewriter}/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{continued_rewriter}/{version}.tsv"
    threads: COMPUTE["train_threads"]
    resources:
        mem_mb=grows(8000),
        runtime=grows(2880),
        device=COMPUTE["device"],
    conda:
        "../envs/nmt.yaml"
    shell:
        "python -m workflow_scripts.stages.rewrite.continued --config {params.config:q}"
        " --folder {params.segments:q} --shards {params.shards} --pairs {input.pairs:q}"
        " --model {params.model:q} {params.templates:q}"
        " --work {params.folder:q}/work --device {resources.device} --threads {threads}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


rule rewrite_measure:
    input:
        model=unit_file("rewrite", "model.json", "{rewriter}"),
        pairs=unit_file("rewrite", "manifest.json", "{rewriter}-pairs"),
    output:
        paraphrases="<results>/rewrite/{rewriter}-measures/{version}/paraphrases.jsonl",
        record="<results>/rewrite/{rewriter}-measures/{version}/paraphrases.json",
        measures="<results>/rewrite/{rewriter}-measures/{version}/measures.json",
    params:
        config=unit_config("rewrite", "{rewriter}-measures"),
        pairs=unit_folder("rewrite", "{rewriter}-pairs"),
        shards=len(EARLY),
        folder=unit_folder("rewrite", "{rewriter}"),
    log:
        "<results>/logs/rewrite/{rewriter}-measures/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-measures/{version}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
        device=COMPUTE["device"],
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.rewrite.measure --config {params.config:q}"
        " --model {params.folder:q} --folder {params.pairs:q} --shards {params.shards}"
        " --device {resources.device} --threads {threads}"
        " --output {output.paraphrases:q} 2>&1 | tee {log:q}"


rule rewrite_control:
    input:
        model=unit_file("rewrite", "model.json", "{rewriter}"),
        pairs=unit_file("rewrite", "manifest.json", "{rewriter}-pairs"),
        trees=unit_file("rewrite", "manifest.json", "{rewriter}-parses"),
        templates=unit_file("rewrite", "templates.tsv", "{rewriter}-templates"),
    output:
        answers="<results>/rewrite/{rewriter}-control/{version}/answers.tsv",
        record="<results>/rewrite/{rewriter}-control/{version}/answers.json",
        measures="<results>/rewrite/{rewriter}-control/{version}/control.json",
    params:
        config=unit_config("rewrite", "{rewriter}-control"),
        inputs=unit_inputs("rewrite", "{rewriter}-control"),
        model=unit_folder("rewrite", "{rewriter}"),
        pairs=unit_folder("rewrite", "{rewriter}-pairs"),
        trees=unit_folder("rewrite", "{rewriter}-parses"),
        templates=unit_folder("rewrite", "{rewriter}-templates"),
        folder=unit_folder("rewrite", "{rewriter}-control"),
        shards=len(EARLY),
    log:
        "<results>/logs/rewrite/{rewriter}-control/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-control/{version}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(6000),
        runtime=grows(480),
        device=COMPUTE["device"],
        batch_rows=COMPUTE["batch_rows"],
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.rewrite.measure_control --config {params.config:q}"
        " --inputs {params.inputs:q} --model {params.model:q}"
        " --pairs {params.pairs:q} --trees {params.trees:q} --templates {params.templates:q}"
        " --shards {params.shards} --batch-rows {resources.batch_rows}"
        " --device {resources.device} --threads {threads}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


rule rewrite_repair:
    input:
        model=unit_file("rewrite", "model.json", "{rewriter}"),
        pairs=unit_file("rewrite", "manifest.json", "{rewriter}-pairs"),
    output:
        sentences="<results>/rewrite/{rewriter}-repair/{version}/sentences.tsv",
        record="<results>/rewrite/{rewriter}-repair/{version}/sentences.json",
        repair="<results>/rewrite/{rewriter}-repair/{version}/repair.json",
    params:
        config=unit_config("rewrite", "{rewriter}-repair"),
        pairs=unit_folder("rewrite", "{rewriter}-pairs"),
        shards=len(EARLY),
        folder=unit_folder("rewrite", "{rewriter}"),
    log:
        "<results>/logs/rewrite/{rewriter}-repair/{version}.log",
    benchmark:
        "<results>/benchmarks/rewrite/{rewriter}-repair/{version}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
        device=COMPUTE["device"],
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.rewrite.repair --config {params.config:q}"
        " --model {params.folder:q} --folder {params.pairs:q} --shards {params.shards}"
        " --device {resources.device} --threads {threads}"
        " --output {output.sentences:q} 2>&1 | tee {log:q}"
