/** The service's own word, where its identifiers carry one: in paths, parameters, fields and the media type. */
export interface Vocabulary {
  /** `run`, as in `run[tool]`. */
  readonly run: string
  /** `runs`, as in `/runs` and `_embedded.runs`. */
  readonly runs: string
  /** `run_files`, the upload's parameter and the name of the list in some replies. */
  readonly files: string
  readonly mediaType: string
  toolName(tool: string): string
}

/** Without a name the document's own stand-ins are used: `run`, and `service` in media type and tool. */
export function vocabularyOf(serviceName?: string): Vocabulary {
  const run = serviceName ?? 'run'
  const vendor = serviceName ?? 'service'
  return {
    run,
    runs: `${run}s`,
    files: `${run}_files`,
    mediaType: `application/vnd.${vendor}.v2+json`,
    toolName: (tool) => (tool === 'service-chrome' ? `${vendor}-chrome` : tool)
  }
}
