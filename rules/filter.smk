rule filter:
    input:
        stage_target("filter"),


rule filter_columns:
    input:
        selected=unit_file("select", "{shard}.parquet"),
    output:
        columns="<results>/filter/{system}/{version}/{shard}.parquet",
        record="<results>/filter/{system}/{version}/{shard}.json",
    params:
        config=unit_config("filter"),
    log:
        "<results>/logs/filter/{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.filter.columns --config {params.config:q}"
        " --input {input.selected:q} --output {output.columns:q} 2>&1 | tee {log:q}"


# The files count by their content, which names the folder.
rule filter_outside:
    input:
        ancient(outside_files),
    output:
        columns="<results>/filter/{outside}/{version}/0000.parquet",
        record="<results>/filter/{outside}/{version}/0000.json",
    params:
        config=unit_config("filter", "{outside}"),
        inputs=unit_inputs("filter", "{outside}"),
    log:
        "<results>/logs/filter/{outside}/{version}/0000.log",
    benchmark:
        "<results>/benchmarks/filter/{outside}/{version}/0000.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.filter.outside --config {params.config:q}"
        " --inputs {params.inputs:q} --output {output.columns:q} 2>&1 | tee {log:q}"


rule filter_training_set:
    input:
        columns=read_manifests("filter", "{training_set}"),
    output:
        pairs="<results>/filter/{training_set}/{version}/pairs.parquet",
        record="<results>/filter/{training_set}/{version}/pairs.json",
    params:
        config=unit_config("filter", "{training_set}"),
        folder=lambda wildcards: LAYOUT.folder("filter", FILTER.system_of(wildcards.training_set)),
        values=training_set_values,
        shards=training_set_shards,
    log:
        "<results>/logs/filter/{training_set}/{version}/pairs.log",
    benchmark:
        "<results>/benchmarks/filter/{training_set}/{version}/pairs.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.filter.training_set --config {params.config:q}"
        " --folder {params.folder:q} --values {params.values:q} --shards {params.shards}"
        " --output {output.pairs:q} 2>&1 | tee {log:q}"


rule filter_language_model:
    input:
        pairs="<pairs>/manifest.json",
        sample="<references>/sample.json",
    output:
        model="<results>/filter/{language_model}/{version}/model.binary",
        record="<results>/filter/{language_model}/{version}/model.json",
    params:
        config=unit_config("filter", "{language_model}"),
        folder=unit_folder(*PAIRS),
        shards=len(EARLY),
    log:
        "<results>/logs/filter/{language_model}/{version}/model.log",
    benchmark:
        "<results>/benchmarks/filter/{language_model}/{version}/model.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    conda:
        "../envs/language_model.yaml"
    shell:
        "python -m workflow_scripts.stages.filter.language_model --config {params.config:q}"
        " --folder {params.folder:q} --shards {params.shards} --sample {input.sample:q}"
        " --output {output.model:q} 2>&1 | tee {log:q}"


rule filter_perplexity:
    input:
        columns=unit_file("filter", "{shard}.parquet"),
        model=unit_file("filter", "model.binary", "{language_model}"),
    output:
        values="<results>/filter/{language_model}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{language_model}-{system}/{version}/{shard}.json",
    params:
        config=unit_config("filter", "{language_model}-{system}"),
    log:
        "<results>/logs/filter/{language_model}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{language_model}-{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    conda:
        "../envs/language_model.yaml"
    shell:
        "python -m workflow_scripts.stages.filter.perplexity --config {params.config:q}"
        " --input {input.columns:q}"
        " --model {input.model:q} --output {output.values:q} 2>&1 | tee {log:q}"


# A file of word vectors counts by its content, which names the folder.
rule filter_classifier:
    input:
        columns=unit_file("filter", "manifest.json"),
        vectors=ancient(classifier_vectors),
    output:
        weights="<results>/filter/{classifier}-{system}/{version}/weights.pt",
        vocabulary="<results>/filter/{classifier}-{system}/{version}/vocabulary.json",
        metrics="<results>/filter/{classifier}-{system}/{version}/metrics.json",
        record="<results>/filter/{classifier}-{system}/{version}/model.json",
    params:
        config=unit_config("filter", "{classifier}-{system}"),
        inputs=unit_inputs("filter", "{classifier}-{system}"),
        columns=unit_folder("filter"),
        shards=len(LATE),
        folder=unit_folder("filter", "{classifier}-{system}"),
    log:
        "<results>/logs/filter/{classifier}-{system}/{version}/model.log",
    benchmark:
        "<results>/benchmarks/filter/{classifier}-{system}/{version}/model.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    conda:
        "../envs/nmt.yaml"
    shell:
        "python -m workflow_scripts.stages.filter.train_classifier --config {params.config:q}"
        " --folder {params.columns:q} --shards {params.shards} --inputs {params.inputs:q}"
        " --output {params.folder:q} 2>&1 | tee {log:q}"


rule filter_classified:
    input:
        columns=unit_file("filter", "{shard}.parquet"),
        weights="<results>/filter/{classifier}-{system}/{version}/weights.pt",
        vocabulary="<results>/filter/{classifier}-{system}/{version}/vocabulary.json",
    output:
        values="<results>/filter/{classifier}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{classifier}-{system}/{version}/{shard}.json",
    params:
        config=unit_config("filter", "{classifier}-{system}"),
        folder=unit_folder("filter", "{classifier}-{system}"),
    log:
        "<results>/logs/filter/{classifier}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{classifier}-{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/nmt.yaml"
    shell:
        "python -m workflow_scripts.stages.filter.classify --input {input.columns:q}"
        " --model {params.folder:q} --output {output.values:q} 2>&1 | tee {log:q}"


# The file counts by its content, which names the folder; a later time alone is no reason to run.
rule filter_paraphrase_score:
    input:
        columns=unit_file("filter", "{shard}.parquet"),
        vectors=ancient(vectors_file),
    output:
        values="<results>/filter/{vectors}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{vectors}-{system}/{version}/{shard}.json",
    params:
        config=unit_config("filter", "{vectors}-{system}"),
        inputs=unit_inputs("filter", "{vectors}-{system}"),
    log:
        "<results>/logs/filter/{vectors}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{vectors}-{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.filter.paraphrase_score --input {input.columns:q}"
        " --vectors {input.vectors:q}"
        " --inputs {params.inputs:q} --output {output.values:q} 2>&1 | tee {log:q}"


rule filter_embedding_score:
    input:
        columns=unit_file("filter", "{shard}.parquet"),
        model=column_embedding_model,
    output:
        values="<results>/filter/{embedding_column}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{embedding_column}-{system}/{version}/{shard}.json",
    params:
        config=unit_config("filter", "{embedding_column}-{system}"),
        folder=column_embedding,
    log:
        "<results>/logs/filter/{embedding_column}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{embedding_column}-{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.filter.embedding_score --input {input.columns:q}"
        " --model {params.folder:q} --output {output.values:q} 2>&1 | tee {log:q}"


rule filter_encoder_score:
    input:
        columns=unit_file("filter", "{shard}.parquet"),
        model=encoder_column_model,
    output:
        values="<results>/filter/{encoder_column}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{encoder_column}-{system}/{version}/{shard}.json",
    params:
        folder=encoder_column,
    log:
        "<results>/logs/filter/{encoder_column}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{encoder_column}-{system}/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(480),
        device=COMPUTE["device"],
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.filter.encoder_score --input {input.columns:q}"
        " --model {params.folder:q} --device {resources.device} --threads {threads}"
        " --output {output.values:q} 2>&1 | tee {log:q}"


# The files of an encoder count by their content, which names the folder.
rule filter_feature:
    input:
        columns=unit_file("filter", "{shard}.parquet"),
        read=feature_reads,
        encoder=ancient(feature_encoder),
    output:
        values="<results>/filter/{feature}-{system}/{version}/{shard}.parquet",
        record="<results>/filter/{feature}-{system}/{version}/{shard}.json",
    params:
        config=unit_config("filter", "{feature}-{system}"),
        inputs=unit_inputs("filter", "{feature}-{system}"),
        options=feature_options,
    log:
        "<results>/logs/filter/{feature}-{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/filter/{feature}-{system}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(480),
    conda:
        "../envs/embed.yaml"
    shell:
        "python -m workflow_scripts.stages.filter.feature_values --config {params.config:q}"
        " --inputs {params.inputs:q} --input {input.columns:q} {params.options:q}"
        " --output {output.values:q} 2>&1 | tee {log:q}"
