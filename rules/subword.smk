rule subword:
    input:
        stage_target("subword"),


rule subword_train:
    input:
        pairs=upstream_file("subword", "manifest.json"),
    output:
        model="<results>/subword/{vocabulary}/{version}/{side}.model",
        record="<results>/subword/{vocabulary}/{version}/{side}.json",
    params:
        config=vocabulary_config,
        folder=upstream_folder("subword"),
        shards=len(EARLY),
    log:
        "<results>/logs/subword/{vocabulary}/{version}/{side}.log",
    benchmark:
        "<results>/benchmarks/subword/{vocabulary}/{version}/{side}.tsv"
    resources:
        mem_mb=grows(8000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.subword.train --config {params.config:q}"
        " --folder {params.folder:q} --shards {params.shards}"
        " --output {output.model:q} 2>&1 | tee {log:q}"


rule subword_segment:
    input:
        pairs=upstream_file("subword", "{shard}.parquet"),
        source="<results>/subword/{vocabulary}/{version}/source.model",
        reference="<results>/subword/{vocabulary}/{version}/reference.model",
    output:
        segments="<results>/subword/{vocabulary}/{version}/{shard}.parquet",
        record="<results>/subword/{vocabulary}/{version}/{shard}.json",
    params:
        config=unit_config("subword"),
    log:
        "<results>/logs/subword/{vocabulary}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/subword/{vocabulary}/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.subword.segment --config {params.config:q}"
        " --input {input.pairs:q} --source-model {input.source:q}"
        " --reference-model {input.reference:q} --output {output.segments:q} 2>&1 | tee {log:q}"
