rule clean:
    input:
        stage_target("clean"),


rule clean_shard:
    input:
        corpora=corpus_shards(".parquet"),
    output:
        pairs="<results>/clean/{version}/{shard}.parquet",
        record="<results>/clean/{version}/{shard}.json",
        rejected="<results>/clean/{version}/rejected/{shard}.tsv.zst",
        rejected_record="<results>/clean/{version}/rejected/{shard}.tsv.json",
    params:
        config=unit_config("clean"),
        corpora=lambda wildcards, input: listed(input.corpora),
    log:
        "<results>/logs/clean/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/clean/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        "python -m workflow_scripts.stages.clean.shard --config {params.config:q}"
        " --inputs {params.corpora:q} --output {output.pairs:q}"
        " --rejected {output.rejected:q} 2>&1 | tee {log:q}"
