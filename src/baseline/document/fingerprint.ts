/**
 * What must be equal for two runs to be comparable: the name of each part, and its value or hash. The names are used in messages:
 * "the plan changed".
 */
export type Fingerprint = Readonly<Record<string, string>>
