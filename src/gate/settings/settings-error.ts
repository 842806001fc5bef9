/** Inputs that are not valid, all of them at once, so that a workflow can be fixed in one push. */
export class SettingsError extends Error {
  override name = 'SettingsError'
  constructor(readonly problems: readonly string[]) {
    super(
      problems.length === 1
        ? `Invalid input, nothing was sent: ${problems[0] ?? ''}`
        : `${problems.length} invalid inputs, nothing was sent:\n${problems.map((problem) => `- ${problem}`).join('\n')}`
    )
  }
}
