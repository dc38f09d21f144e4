rule clean:
    input:
        stage_target("clean"),


rule clean_shard:
    input:
        corpora=corpus_shards(".parquet"),
        records=corpus_shards(".json"),
    output:
        pairs="<results>/clean/{version}/{shard}.parquet",
        record="<results>/clean/{version}/{shard}.json",
    log:
        "<results>/logs/clean/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/clean/{version}/{shard}.tsv"
    conda:
        "../envs/text.yaml"
    resources:
        mem_mb=2000,
        runtime=120,
    params:
        config=unit_config("clean"),
    shell:
        "python -m workflow_scripts.clean.shard --config {params.config:q}"
        " --inputs {input.corpora:q} --output {output.pairs:q} 2>&1 | tee {log:q}"
