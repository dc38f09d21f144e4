rule clean:
    input:
        stage_target("clean"),


rule clean_shard:
    input:
        corpora=corpus_shards(".parquet"),
    output:
        pairs="<results>/clean/{version}/{shard}.parquet",
        record="<results>/clean/{version}/{shard}.json",
    params:
        config=unit_config("clean"),
        corpora=lambda wildcards, input: listed(input.corpora),
        # For people, and no output: a folder of an older version has none, and nothing is made again.
        rejected=lambda wildcards: f"{LAYOUT.folder('clean')}/rejected/{wildcards.shard}.tsv.zst",
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
        "python -m workflow_scripts.clean.shard --config {params.config:q}"
        " --inputs {params.corpora:q} --output {output.pairs:q}"
        " --rejected {params.rejected:q} 2>&1 | tee {log:q}"
