rule generate:
    input:
        stage_target("generate"),


# The sources of text alone, before there is bitext, and further ones of references.
rule generate_sources:
    input:
        unpack(reads("generate", "sources")),
    output:
        sources="<results>/generate/{sources}/{version}/{shard}.parquet",
        record="<results>/generate/{sources}/{version}/{shard}.json",
    params:
        command=command("generate", "sources"),
    log:
        "<results>/logs/generate/{sources}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/generate/{sources}/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(1440),
        device=COMPUTE["device"],
        batch_rows=COMPUTE["batch_rows"],
        batch_tokens=COMPUTE["batch_tokens"],
    conda:
        "../envs/nmt.yaml"
    shell:
        run("device", "batch_rows", "batch_tokens", "threads")


rule generate_sample:
    input:
        unpack(reads("generate", "sample")),
    output:
        sample="<results>/generate/references/{version}/sample.json",
        record="<results>/generate/references/{version}/sampling.json",
    params:
        command=command("generate", "sample"),
    log:
        "<results>/logs/generate/references/{version}/sample.log",
    benchmark:
        "<results>/benchmarks/generate/references/{version}/sample.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule generate_references:
    input:
        unpack(reads("generate", "references")),
    output:
        references="<results>/generate/references/{version}/{shard}.parquet",
        record="<results>/generate/references/{version}/{shard}.json",
    params:
        command=command("generate", "references"),
    log:
        "<results>/logs/generate/references/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/generate/references/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(120),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule generate_idf:
    input:
        unpack(reads("generate", "idf")),
    output:
        idf="<results>/generate/idf/{version}/idf.parquet",
        record="<results>/generate/idf/{version}/idf.json",
    params:
        command=command("generate", "idf"),
    log:
        "<results>/logs/generate/idf/{version}/idf.log",
    benchmark:
        "<results>/benchmarks/generate/idf/{version}/idf.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(480),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule generate_words:
    input:
        unpack(reads("generate", "words")),
    output:
        words="<results>/generate/words/{version}/words.txt",
        record="<results>/generate/words/{version}/words.json",
    params:
        command=command("generate", "words"),
    log:
        "<results>/logs/generate/words/{version}/words.log",
    benchmark:
        "<results>/benchmarks/generate/words/{version}/words.tsv"
    resources:
        mem_mb=grows(2000),
        runtime=grows(480),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule generate_shard:
    input:
        unpack(reads("generate", "shard")),
    output:
        candidates="<results>/generate/{system}/{version}/{shard}.parquet",
        record="<results>/generate/{system}/{version}/{shard}.json",
    params:
        command=command("generate", "shard"),
    log:
        "<results>/logs/generate/{system}/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/generate/{system}/{version}/{shard}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(1440),
        device=COMPUTE["device"],
        batch_rows=COMPUTE["batch_rows"],
    conda:
        "../envs/nmt.yaml"
    shell:
        run("device", "batch_rows", "threads")
