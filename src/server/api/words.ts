/** The service's own word, in every identifier that carries it. */
export interface Words {
  /** `run`, as in `run[tool]`. */
  readonly run: string
  /** `runs`, as in `/runs` and `_embedded.runs`. */
  readonly runs: string
  /** `run_files`, the upload's parameter and the name of the list in some replies. */
  readonly files: string
  /** The vendor part of the media type. */
  readonly vendor: string
  readonly tools: readonly string[]
}

/** Without a name these are the document's own stand-ins: `run`, and `service` in media type and tool. */
export function wordsOf(serviceName: string | undefined): Words {
  const run = serviceName ?? 'run'
  const vendor = serviceName ?? 'service'
  return {
    run,
    runs: `${run}s`,
    files: `${run}_files`,
    vendor,
    tools: ['jmeter', 'gatling', 'java-selenium-chrome', 'java-selenium-firefox', `${vendor}-chrome`]
  }
}
