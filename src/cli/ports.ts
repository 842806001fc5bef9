import type { Clock } from '../contract/clock.js'
import type { LocalService, LocalServiceRequest } from '../gate/ports.js'
import type { FindFiles } from '../gate/settings/plan-files.js'
import type { Retention } from '../service/config/config.js'
import type * as service from '../service/embedded-service.js'
import type { Arguments, Flag } from './arguments.js'
import type { IdTokenFile } from './id-token-file.js'
import type { Prompt } from './init/asker.js'
import type { Screen } from './screen.js'

export type Users = ReturnType<typeof service.openUsers>
export type OpenQueue = ReturnType<typeof service.openQueue>
export type Pruned = Awaited<ReturnType<typeof service.pruneBeside>>
export type ServeRequest = Parameters<typeof service.serve>[0]
export type ServedService = Awaited<ReturnType<typeof service.serve>>

/** What a command takes, and what it does; it returns the exit code. */
export interface Runnable {
  readonly flags: readonly Flag[]
  readonly run: (args: Arguments, ports: CommandPorts) => Promise<number>
}

/** What only the entry can provide. The service is loaded by the commands that need it. */
export interface CommandPorts {
  readonly screen: Screen
  readonly cancelled: AbortSignal
  readonly workspace: string
  readonly token: string
  /** LOADGATE_ID_TOKEN_FILE; undefined if that is not set. */
  readonly idTokens?: IdTokenFile | undefined
  /** The address of the service in LOADGATE_BASE_URL; empty if that is not set. */
  readonly baseUrl: string
  /** Of the environment. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  readonly platform: string
  readonly version: string
  /** By default the machine's. */
  readonly clock?: Clock
  /** Whether the terminal shows more than ASCII. */
  readonly isUnicode?: boolean
  /** Where the examples are, one folder each. */
  readonly examplesDir: string
  /** Undefined if nobody is there to answer: no terminal. */
  openPrompt(): Prompt | undefined
  findFiles(workspace: string): FindFiles
  hasJava(): Promise<boolean>
  hasK6(): Promise<boolean>
  startShop: typeof service.startShop
  startLocalService(
    request: LocalServiceRequest & {
      dataDir: string
      rehearse: boolean
      log: (line: string) => void
      /** Shows a line in place of the one before, on a terminal. */
      progress: ((line: string | undefined) => void) | undefined
    }
  ): Promise<LocalService>
  serve(request: ServeRequest): Promise<ServedService>
  /** The users in the data folder of a service, which may be running. */
  openUsers(dataDir: string): Promise<Users>
  /** The queue in the data folder of a service, which may be running. */
  openQueue(dataDir: string): Promise<OpenQueue>
  /** Deletes what is beyond the limits, or only finds it. The service may be running. */
  prune(request: { dataDir: string; retention: Retention; isDry: boolean }): Promise<Pruned>
}
