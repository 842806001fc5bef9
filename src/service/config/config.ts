import type { Regions } from '../../contract/regions/regions.js'

/** The file that `loadgate serve --config` reads. Paths are absolute: relative ones start at the folder of the file. */
export interface ServiceConfig {
  readonly listen: { readonly host: string; readonly port: number }
  readonly dataDir: string
  /** Without a slash at the end. */
  readonly externalUrl: string | undefined
  readonly tls: { readonly certificate: string; readonly key: string } | undefined
  /** Addresses and ranges of the proxies whose X-Forwarded-* headers are trusted; undefined if there is no proxy. */
  readonly trustedProxies: readonly string[] | undefined
  /** Whose tokens are accepted besides those of the users; undefined if there are none. */
  readonly oidc: readonly TrustedIssuer[] | undefined
  readonly maxNodes: number | undefined
  readonly drainMs: number
  readonly retention: Retention
  /** Single sign-on; undefined if people sign in with tokens only. */
  readonly login: LoginConfig | undefined
  readonly quotas: Quotas | undefined
  readonly metrics: { readonly tokenFile?: string; readonly allow?: readonly string[] } | undefined
  readonly regions: Regions | undefined
  /** Undefined if everyone sees everything. */
  readonly projects: ReadonlyMap<string, ProjectConfig> | undefined
}

/** Members create runs, viewers only see them. */
export interface ProjectConfig {
  readonly members: readonly ProjectUser[]
  readonly viewers: readonly ProjectUser[]
}

/** A pattern for the name of a user, or patterns for claims that one issuer must say of a user, all of them. */
export type ProjectUser = { readonly name: string } | ClaimsOfIssuer

export interface ClaimsOfIssuer {
  /** Undefined where the service trusts none: then it is nobody. */
  readonly issuer: string | undefined
  /** Whether it is the issuer of single sign-on. */
  readonly isOfPeople: boolean
  readonly claims: ClaimPatterns
}

/** An issuer of ID tokens, such as GitHub Actions. No two have the same `issuer`, nor the same `name`. */
export interface TrustedIssuer {
  readonly issuer: string
  /** What its users are called by: `gitlab` makes `gitlab:acme/shop`. Of one issuer alone it may be undefined: its users are repositories. */
  readonly name?: string
  /** The claim that is the user. */
  readonly userClaim: string
  readonly audience: string
  /** File with the authorities of its certificate; undefined: those that the machine trusts. */
  readonly ca?: string
  readonly allow: readonly AllowRule[]
}

/** Who has all of these claims has the role. */
export interface AllowRule {
  readonly role: Role
  readonly claims: ClaimPatterns
}

/** Names of claims with the patterns of their values; at least one. */
export type ClaimPatterns = readonly (readonly [name: string, pattern: string])[]

/** How people sign in with OpenID Connect. */
export interface LoginConfig {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecretFile: string
  /** Who may do what, by the names of groups. */
  readonly groups: Readonly<Record<Role, readonly string[]>>
  readonly groupsClaim: string
  /** A session ends so long after the person proved to the provider who they are. */
  readonly maxAgeSec: number | undefined
  /** Certificates that the provider's is signed by, besides those that Node knows. */
  readonly caFile: string | undefined
}

/** Which runs count together for the limits of a project. */
export interface ProjectCounts {
  /** The projects of the config file; undefined if it has none, and everyone sees everything. */
  readonly listed?: ReadonlySet<string> | undefined
}

/** Anybody may name a project that is not in the file, and nobody else sees the runs in it: those count for each creator by itself. */
export function countsPerCreator({ listed }: ProjectCounts, project: string | null): boolean {
  return listed !== undefined && (project === null || !listed.has(project))
}

/** Whatever is beyond one of these limits is deleted, oldest first; what is undefined has no limit. */
export interface Retention extends ProjectCounts {
  readonly days?: number
  readonly bytes?: number
  /** Of runs that have ended. */
  readonly runsPerProject?: number
  /** How long each run stays after its end, whatever the limits say; a day unless given. */
  readonly atLeastMs?: number
}

export type QuotaName = 'waiting-runs' | 'nodes' | 'upload-per-day' | 'disk'
/** What is undefined has no limit. */
export type QuotaLimits = Readonly<Partial<Record<QuotaName, number | undefined>>>

/** What users and projects may have: all of them, and some by name. */
export interface Quotas extends ProjectCounts {
  readonly user: QuotaLimits
  readonly project: QuotaLimits
  readonly users: ReadonlyMap<string, QuotaLimits>
  readonly projects: ReadonlyMap<string, QuotaLimits>
}

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

/** A problem that shows only when the service starts, such as a port in use; the message begins with the key in the config file. */
export class ConfigProblem extends Error {
  override name = 'ConfigProblem'
}

export const ROLES = ['admin', 'member', 'viewer'] as const
export type Role = (typeof ROLES)[number]
