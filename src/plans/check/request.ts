/** One of the files that go with a run. */
export interface RunFile {
  /** Without its folder, which a service drops. */
  readonly name: string
  /** Undefined if it is not a plan or a source, cannot be read or is too large. */
  readonly text: string | undefined
}

/** A parameter by name; its value may be a secret, and is never shown. */
export interface Parameter {
  readonly kind: 'J' | 'D'
  readonly name: string
  readonly value: string
}

/** What a plan is checked against. */
export interface PlanRequest {
  readonly tool: string
  /** The tool runs on this machine, as part of the step; otherwise a service of its own or a pod runs it. */
  readonly isHere: boolean
  /** The embedded service runs it: here, or in pods. */
  readonly isEmbedded: boolean
  readonly plan: RunFile & { readonly text: string }
  readonly others: readonly RunFile[]
  readonly threads: number | undefined
  readonly rampupSeconds: number | undefined
  readonly durationSeconds: number | undefined
  readonly parameters: readonly Parameter[]
  /** Those of them that lead to the server of the base, where base and head run side by side. */
  readonly baselineParameters?: readonly Parameter[]
  /** What stops a run that does not end: "the timeout of 2 h". */
  readonly limit: string
  /** Whether there is a file with this absolute path here. */
  isThere(path: string): boolean
  /** Whether the JMeter that will be used has this class; undefined if nobody knows. */
  hasClass(name: string): boolean | undefined
}

/** What the run's settings are called where a plan reads them, and their values. */
export function settingsOf({ threads, rampupSeconds, durationSeconds }: PlanRequest): Map<string, number> {
  const given = { threads, rampup: rampupSeconds, duration: durationSeconds }
  return new Map(
    Object.entries(given).flatMap(([name, value]): [string, number][] =>
      value === undefined ? [] : [[name, value]]
    )
  )
}
