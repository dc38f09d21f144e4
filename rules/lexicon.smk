rule lexicon:
    input:
        stage_target("lexicon"),


rule lexicon_words:
    input:
        sets=lexicon_training_sets,
    output:
        words="<results>/lexicon/{lexicon}-words/{version}/words.parquet",
        links="<results>/lexicon/{lexicon}-words/{version}/links.parquet",
        record="<results>/lexicon/{lexicon}-words/{version}/words.json",
    params:
        config=unit_config("lexicon", "{lexicon}-words"),
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
        "python -m workflow_scripts.stages.lexicon.words --config {params.config:q}"
        " --training-sets {input.sets:q} --output {output.words:q} 2>&1 | tee {log:q}"


rule lexicon_count:
    input:
        sets=lexicon_training_sets,
        words=unit_file("lexicon", "words.json", "{lexicon}-words"),
    output:
        phrases="<results>/lexicon/{lexicon}-counts/{version}/{shard}.parquet",
        across="<results>/lexicon/{lexicon}-counts/{version}/{shard}-across.parquet",
        within="<results>/lexicon/{lexicon}-counts/{version}/{shard}-within.parquet",
        record="<results>/lexicon/{lexicon}-counts/{version}/{shard}.json",
    params:
        config=unit_config("lexicon", "{lexicon}-counts"),
        words=unit_folder("lexicon", "{lexicon}-words"),
        shards=len(EARLY),
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
        "python -m workflow_scripts.stages.lexicon.count --config {params.config:q}"
        " --training-sets {input.sets:q} --words {params.words:q} --shards {params.shards}"
        " --output {output.phrases:q} 2>&1 | tee {log:q}"


rule lexicon_tag:
    input:
        sets=lexicon_training_sets,
        words=unit_file("lexicon", "words.json", "{tagged_lexicon}-words"),
    output:
        tags="<results>/lexicon/{tagged_lexicon}-tags/{version}/tags.parquet",
        record="<results>/lexicon/{tagged_lexicon}-tags/{version}/tags.json",
    params:
        config=unit_config("lexicon", "{tagged_lexicon}-tags"),
        inputs=unit_inputs("lexicon", "{tagged_lexicon}-tags"),
        words=unit_folder("lexicon", "{tagged_lexicon}-words"),
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
        "python -m workflow_scripts.stages.lexicon.word_tags --config {params.config:q}"
        " --inputs {params.inputs:q} --training-sets {input.sets:q} --words {params.words:q}"
        " --output {output.tags:q} 2>&1 | tee {log:q}"


rule lexicon_entries:
    input:
        words=unit_file("lexicon", "words.json", "{lexicon}-words"),
        counts=unit_file("lexicon", "manifest.json", "{lexicon}-counts"),
        tags=lexicon_tags,
    output:
        parquet="<results>/lexicon/{lexicon}/{version}/lexicon.parquet",
        tsv="<results>/lexicon/{lexicon}/{version}/lexicon.tsv.zst",
        ppdb="<results>/lexicon/{lexicon}/{version}/ppdb.gz",
        record="<results>/lexicon/{lexicon}/{version}/lexicon.json",
    params:
        config=unit_config("lexicon", "{lexicon}"),
        words=unit_folder("lexicon", "{lexicon}-words"),
        counts=unit_folder("lexicon", "{lexicon}-counts"),
        shards=len(EARLY),
        tags=lexicon_tags_options,
        folder=unit_folder("lexicon", "{lexicon}"),
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
        "python -m workflow_scripts.stages.lexicon.entries --config {params.config:q}"
        " --words {params.words:q} --counts {params.counts:q} --shards {params.shards}"
        " {params.tags:q} --output {params.folder:q} 2>&1 | tee {log:q}"


rule lexicon_measure:
    input:
        lexicon=unit_file("lexicon", "lexicon.parquet", "{lexicon}"),
        models=lexicon_embedding_models,
        texts=lexicon_texts,
    output:
        sample="<results>/lexicon/{lexicon}-measures/{version}/sample.tsv",
        record="<results>/lexicon/{lexicon}-measures/{version}/sample.json",
        measures="<results>/lexicon/{lexicon}-measures/{version}/measures.json",
    params:
        config=unit_config("lexicon", "{lexicon}-measures"),
        inputs=unit_inputs("lexicon", "{lexicon}-measures"),
        embeddings=lexicon_embeddings,
        texts=lexicon_texts,
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
        "python -m workflow_scripts.stages.lexicon.measures --config {params.config:q}"
        " --inputs {params.inputs:q} --lexicon {input.lexicon:q}"
        " --embeddings {params.embeddings:q} --training-sets {params.texts:q}"
        " --threads {threads} --output {output.sample:q} 2>&1 | tee {log:q}"
