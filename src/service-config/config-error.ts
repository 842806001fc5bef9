/** What is wrong with the config file, all of it at once, so that it can be fixed in one go. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  constructor(
    file: string,
    readonly problems: readonly string[],
    options?: { cause?: unknown }
  ) {
    super(
      problems.length === 1
        ? `${file}: ${problems[0] ?? ''}`
        : `${problems.length} problems in ${file}:\n${problems.map((problem) => `- ${problem}`).join('\n')}`,
      options
    )
  }
}

/** What shows only when the service starts, such as a port in use; the message begins with the key of the config file. */
export class ConfigProblem extends Error {
  override name = 'ConfigProblem'
}
