/** What is wrong with the config file, all of it at once, so that it can be fixed in one go. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  constructor(
    file: string,
    readonly problems: readonly string[]
  ) {
    super(
      problems.length === 1
        ? `${file}: ${problems[0] ?? ''}`
        : `${problems.length} problems in ${file}:\n${problems.map((problem) => `- ${problem}`).join('\n')}`
    )
  }
}
