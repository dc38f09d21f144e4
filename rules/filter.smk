rule filter:
    input:
        stage_target("filter"),


rule filter_columns:
    input:
        selected=part("select", "{shard}.parquet"),
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
        "python -m workflow_scripts.filter.columns --input {input.selected:q}"
        " --output {output.columns:q} 2>&1 | tee {log:q}"


rule filter_training_set:
    input:
        columns=read_shards("filter", "{training_set}", ".parquet"),
    output:
        pairs="<results>/filter/{training_set}/{version}/pairs.parquet",
        record="<results>/filter/{training_set}/{version}/pairs.json",
    params:
        config=unit_config("filter", "{training_set}"),
        folder=lambda wildcards: LAYOUT.folder("filter", LAYOUT.system_of(wildcards.training_set)),
        shards=len(LATE),
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
        "python -m workflow_scripts.filter.training_set --config {params.config:q}"
        " --folder {params.folder:q} --shards {params.shards}"
        " --output {output.pairs:q} 2>&1 | tee {log:q}"
