rule lexicon:
    input:
        stage_target("lexicon"),


rule lexicon_words:
    input:
        unpack(reads("lexicon", "words")),
    output:
        words="<results>/lexicon/{lexicon}-words/{version}/words.parquet",
        links="<results>/lexicon/{lexicon}-words/{version}/links.parquet",
        record="<results>/lexicon/{lexicon}-words/{version}/words.json",
    params:
        command=command("lexicon", "words"),
    log:
        "<results>/logs/lexicon/{lexicon}-words/{version}.log",
    benchmark:
        "<results>/benchmarks/lexicon/{lexicon}-words/{version}.tsv"
    resources:
        mem_mb=grows(3000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule lexicon_count:
    input:
        unpack(reads("lexicon", "count")),
    output:
        phrases="<results>/lexicon/{lexicon}-counts/{version}/{shard}.parquet",
        across="<results>/lexicon/{lexicon}-counts/{version}/{shard}-across.parquet",
        within="<results>/lexicon/{lexicon}-counts/{version}/{shard}-within.parquet",
        record="<results>/lexicon/{lexicon}-counts/{version}/{shard}.json",
    params:
        command=command("lexicon", "count"),
    log:
        "<results>/logs/lexicon/{lexicon}-counts/{version}/{shard}.log",
    benchmark:
        "<results>/benchmarks/lexicon/{lexicon}-counts/{version}/{shard}.tsv"
    resources:
        mem_mb=grows(3000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule lexicon_tag:
    input:
        unpack(reads("lexicon", "tag")),
    output:
        tags="<results>/lexicon/{tagged_lexicon}-tags/{version}/tags.parquet",
        record="<results>/lexicon/{tagged_lexicon}-tags/{version}/tags.json",
    params:
        command=command("lexicon", "tag"),
    log:
        "<results>/logs/lexicon/{tagged_lexicon}-tags/{version}.log",
    benchmark:
        "<results>/benchmarks/lexicon/{tagged_lexicon}-tags/{version}.tsv"
    resources:
        mem_mb=grows(3000),
        runtime=grows(240),
    conda:
        "../envs/embed.yaml"
    shell:
        run()


rule lexicon_entries:
    input:
        unpack(reads("lexicon", "entries")),
    output:
        parquet="<results>/lexicon/{lexicon}/{version}/lexicon.parquet",
        tsv="<results>/lexicon/{lexicon}/{version}/lexicon.tsv.zst",
        ppdb="<results>/lexicon/{lexicon}/{version}/ppdb.gz",
        record="<results>/lexicon/{lexicon}/{version}/lexicon.json",
    params:
        command=command("lexicon", "entries"),
    log:
        "<results>/logs/lexicon/{lexicon}/{version}.log",
    benchmark:
        "<results>/benchmarks/lexicon/{lexicon}/{version}.tsv"
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    conda:
        "../envs/text.yaml"
    shell:
        run()


rule lexicon_measure:
    input:
        unpack(reads("lexicon", "measure")),
    output:
        sample="<results>/lexicon/{lexicon}-measures/{version}/sample.tsv",
        record="<results>/lexicon/{lexicon}-measures/{version}/sample.json",
        measures="<results>/lexicon/{lexicon}-measures/{version}/measures.json",
    params:
        command=command("lexicon", "measure"),
    log:
        "<results>/logs/lexicon/{lexicon}-measures/{version}.log",
    benchmark:
        "<results>/benchmarks/lexicon/{lexicon}-measures/{version}.tsv"
    threads: COMPUTE["search_threads"]
    resources:
        mem_mb=grows(4000),
        runtime=grows(240),
    conda:
        "../envs/embed.yaml"
    shell:
        run("threads")
