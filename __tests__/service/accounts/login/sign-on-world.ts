import { jest } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Configuration } from 'oidc-provider'
import { systemClock } from '../../../../src/contract/clock.js'
import { parseConfig } from '../../../../src/service/config/parse-config.js'
import { serve } from '../../../../src/service/serve.js'
import { startService } from '../../../../src/service/server.js'
import { WITH_PAGES } from '../../pages/page-support.js'
import { createFolders } from '../../support.js'
import { readLines } from '../team.js'
import { CLIENT, createIdentityProvider, type IdentityProvider } from './identity-provider.js'
import { SERVICE, WebBrowser } from './web-browser.js'

export interface World {
  readonly idp: IdentityProvider
  readonly port: number
  readonly lines: Record<string, unknown>[]
  readonly dataDir: string
  /** By how much the service's clock is ahead. */
  aheadMs: number
  /** The service, with other keys of `login`, and perhaps another address of the provider. */
  restart(keys: string, issuer?: string): Promise<void>
  /** Where the client's secret is. */
  readonly secretFile: string
  browser(): WebBrowser
  audited(): Record<string, unknown>[]
}

interface Wanted {
  /** Of `login`, beyond those that it always has. */
  readonly keys?: string
  readonly provider?: Partial<Configuration>
  /** Of the config file: how people reach the service. */
  readonly reach?: string
}

const BEHIND_PROXY = `external-url: ${SERVICE}\nbehind-proxy: { trusted: [127.0.0.1] }`

/** Services for teams that people sign in to, each with its provider; one call ends all of them. */
export function createWorlds() {
  const folders = createFolders()
  const open: (() => Promise<void>)[] = []
  const start = async (
    {
      keys = 'admins: [ops], members: [dev], viewers: [all]',
      provider = {},
      reach = BEHIND_PROXY
    }: Wanted = {},
    prepare: (idp: IdentityProvider) => unknown = () => undefined
  ): Promise<World> => {
    // The provider says what it would need in production.
    for (const level of ['warn', 'info', 'error'] as const)
      jest.spyOn(console, level).mockReturnValue(undefined)
    const folder = folders.create()
    const redirectTo = /^external-url: (\S+)$/m.exec(reach)?.[1] ?? ''
    const idp = await createIdentityProvider(folder, { redirectTo, ...provider })
    open.push(() => idp.stop())
    await prepare(idp)
    writeFileSync(join(folder, 'secret'), `${CLIENT.secret}\n`)
    const lines: Record<string, unknown>[] = []
    const world = { aheadMs: 0 }
    const clock = { ...systemClock, now: () => Date.now() + world.aheadMs }
    const serveAt = async (port: number, loginKeys: string, issuer = idp.issuer) => {
      const login = `issuer: "${issuer}", client-id: ${CLIENT.id}, client-secret-file: secret, ca: identity.pem, ${loginKeys}`
      const text = `listen: 127.0.0.1:${port}\ndata: data\n${reach}\nlogin: { ${login} }\n`
      const { config, problems } = parseConfig(text, folder)
      if (!config) throw new Error(problems.join('\n'))
      return serve(
        {
          ...{ setUp: config, rehearse: true, serviceName: undefined, signal: new AbortController().signal },
          log: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>)
        },
        { start: startService, pages: WITH_PAGES.pages!, clock }
      )
    }
    let service = await serveAt(0, keys)
    open.push(() => service.close())
    const port = Number(service.listening?.split(':').at(-1))
    const dataDir = join(folder, 'data')
    return Object.assign(world, {
      ...{ idp, port, lines, dataDir, secretFile: join(folder, 'secret') },
      restart: async (loginKeys: string, issuer?: string) => {
        await service.close()
        service = await serveAt(port, loginKeys, issuer)
      },
      browser: () => new WebBrowser(port, idp.tls.certificate),
      audited: () => readLines(join(dataDir, 'audit.jsonl'))
    })
  }
  return {
    start,
    closeAll: async (): Promise<void> => {
      for (const close of open.splice(0).reverse()) await close()
      folders.remove()
    }
  }
}

/** Someone whom the provider knows sits at a browser. */
export function sit({ idp }: World, subject: string, claims: Record<string, unknown> = {}): void {
  idp.people.set(subject, { preferred_username: subject, ...claims })
  idp.atBrowser = subject
}
