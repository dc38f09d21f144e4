rule generate:
    input:
        stage_target("generate"),


rule generate_sample:
    input:
        pairs="<pairs>/manifest.json",
    output:
        sample="<results>/generate/references/{version}/sample.json",
        record="<results>/generate/references/{version}/sampling.json",
    params:
        config=unit_config("generate", "references"),
        folder=unit_folder(*PAIRS),
        shards=len(EARLY),
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
        "python -m workflow_scripts.stages.generate.sample_references --config {params.config:q}"
        " --folder {params.folder:q} --shards {params.shards}"
        " --output {output.sample:q} 2>&1 | tee {log:q}"


rule generate_references:
    input:
        sample="<results>/generate/references/{version}/sample.json",
        pairs=early_shards(".parquet"),
    output:
        references="<results>/generate/references/{version}/{shard}.parquet",
        record="<results>/generate/references/{version}/{shard}.json",
    params:
        config=unit_config("generate", "references"),
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
        "python -m workflow_scripts.stages.generate.references --config {params.config:q}"
        " --sample {input.sample:q} --inputs {input.pairs:q}"
        " --output {output.references:q} 2>&1 | tee {log:q}"


rule generate_idf:
    input:
        pairs="<pairs>/manifest.json",
    output:
        idf="<results>/generate/idf/{version}/idf.parquet",
        record="<results>/generate/idf/{version}/idf.json",
    params:
        config=unit_config("generate", "idf"),
        folder=unit_folder(*PAIRS),
        shards=len(EARLY),
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
        "python -m workflow_scripts.stages.generate.idf --config {params.config:q}"
        " --folder {params.folder:q} --shards {params.shards}"
        " --output {output.idf:q} 2>&1 | tee {log:q}"


rule generate_words:
    input:
        pairs="<pairs>/manifest.json",
    output:
        words="<results>/generate/words/{version}/words.txt",
        record="<results>/generate/words/{version}/words.json",
    params:
        config=unit_config("generate", "words"),
        folder=unit_folder(*PAIRS),
        shards=len(EARLY),
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
        "python -m workflow_scripts.stages.generate.known_words --folder {params.folder:q}"
        " --shards {params.shards} --output {output.words:q} 2>&1 | tee {log:q}"


# The files of pairs count by their content, which names the folder; a later time alone is no reason to run.
rule generate_shard:
    input:
        references="<references>/{shard}.parquet",
        idf=idf_file,
        pairs=ancient(pair_files),
        model=writer_model,
        held_out=held_out_pairs,
    output:
        candidates="<results>/generate/{system}/{version}/{shard}.parquet",
        record="<results>/generate/{system}/{version}/{shard}.json",
    params:
        config=unit_config("generate"),
        inputs=unit_inputs("generate"),
        model=writer_folder,
        held_out=held_out_options,
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
        "python -m workflow_scripts.stages.generate.candidates --config {params.config:q}"
        " --inputs {params.inputs:q}"
        " --input {input.references:q} --idf {input.idf:q} --model {params.model:q}"
        " {params.held_out:q}"
        " --device {resources.device} --batch-rows {resources.batch_rows} --threads {threads}"
        " --output {output.candidates:q} 2>&1 | tee {log:q}"
