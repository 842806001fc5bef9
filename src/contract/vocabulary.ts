/** The service's name where its identifiers contain it: in paths, parameters, fields and the media type. */
export interface Vocabulary {
  /** `run`, as in `run[tool]`. */
  readonly run: string
  /** `runs`, as in `/runs` and `_embedded.runs`. */
  readonly runs: string
  /** `run_files`, the upload's parameter and the name of the list in some replies. */
  readonly files: string
  /** The vendor part of the media type. */
  readonly vendor: string
  readonly mediaType: string
  /** As the service spells them. */
  readonly tools: readonly string[]
  toolName(tool: string): string
  /** The API document's word for one of the service's, also if a version follows; undefined if it has no such tool. */
  toolOf(name: string): string | undefined
}

/** Without a name the placeholders of the API document are used: `run`, and `service` in media type and tool. */
export function vocabularyOf(serviceName?: string): Vocabulary {
  const run = serviceName ?? 'run'
  const vendor = serviceName ?? 'service'
  const toolName = (tool: string): string => (tool === 'service-chrome' ? `${vendor}-chrome` : tool)
  return {
    run,
    runs: `${run}s`,
    files: `${run}_files`,
    vendor,
    mediaType: `application/vnd.${vendor}.v2+json`,
    tools: TOOLS.map(toolName),
    toolName,
    toolOf: (name) => {
      const isNamed = (match: (known: string) => boolean) => (tool: string) =>
        match(tool) || match(toolName(tool))
      return (
        TOOLS.find(isNamed((known) => known === name)) ??
        TOOLS.find(isNamed((known) => name.startsWith(`${known}-`)))
      )
    }
  }
}

/** The tools of the API, as the API document and the settings spell them. */
export const TOOLS = [
  'jmeter',
  'gatling',
  'java-selenium-chrome',
  'java-selenium-firefox',
  'service-chrome',
  'k6'
] as const

/** The required keys of a grid's specification. */
export const REQUIRED_GRID_KEYS = [
  'infrastructure',
  'region',
  'instance_quantity',
  'instance_type',
  'stop_after'
] as const

export type RequiredGridKey = (typeof REQUIRED_GRID_KEYS)[number]

export const INFRASTRUCTURES = ['demand', 'hosted'] as const

/** `stop_after` in minutes. */
export const MAX_STOP_AFTER_MIN = 2880
/** Of this service, where a grid says nothing: as long as a gate waits by default. */
export const DEFAULT_STOP_AFTER_MIN = 120

/** The optional keys of a grid's specification; they only matter in a cloud. */
export const OPTIONAL_GRID_KEYS: readonly string[] = [
  'aws_platform',
  'aws_tags',
  'aws_availability_zone',
  'aws_spot_price',
  'credential_id',
  'azure_tenant_id',
  'aws_arn',
  'aws_vpc_identifier',
  'aws_vpc_subnet_public',
  'aws_vpc_subnet_private',
  'aws_vpc_security_groups'
]

/** What a line does that holds for the requests that were sent and breaks for users who arrived at any moment. */
export const ON_STALL = ['fail', 'warn', 'ignore'] as const

/** Ids end up in outputs, paths and URLs, so only plain ones are accepted. */
export const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

export function isId(text: string): boolean {
  return ID.test(text)
}

/** Of a run, a project or a user: a page shows hundreds of them. */
export const LONGEST_NAME = 255

/** The name of a project: no characters that nobody sees, and blanks only between others, so that no two names look alike. */
export const PROJECT_NAME =
  /^[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]+(?: +[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]+)*$/u
export const PROJECT_NAME_WORDS = 'text without invisible characters, and without blanks at its ends'
export const SERVICE_NAME = /^[a-z][a-z0-9_-]{0,63}$/
export const BRANCH_NAME = /^(?!refs\/|[-/])[^\s~^:?*[\\\p{Cc}]{1,255}$/u
