import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { instructionsOf } from '../support/tools/service-image.js'

const NODE = 'images/node/Dockerfile'
const SERVICE = 'images/service/Dockerfile'

type Stage = readonly [image: string, name: string]

function stagesOf(instructions: readonly string[]): Stage[] {
  return instructions
    .map((line) => /^FROM (\S+) AS (\S+)$/.exec(line)?.slice(1))
    .filter((stage) => stage !== undefined) as unknown as Stage[]
}

/** The instructions of one stage, without those of the stages that it starts from. */
function stage(instructions: readonly string[], name: string): string[] {
  const start = instructions.findIndex((line) => line.startsWith('FROM') && line.endsWith(` AS ${name}`))
  const rest = instructions.slice(start + 1)
  const next = rest.findIndex((line) => line.startsWith('FROM'))
  return rest.slice(0, next < 0 ? undefined : next)
}

describe.each([
  [NODE, ['node', 'browsers']],
  [SERVICE, ['service']]
])('%s', (file, names) => {
  const instructions = instructionsOf(file)
  const stages = stagesOf(instructions)

  test('every base is pinned by its digest, or is an earlier stage', () => {
    const all = stages.map(([, name]) => name)
    const loose = stages.filter(
      ([image], index) => !/@sha256:[0-9a-f]{64}$/.test(image) && !all.slice(0, index).includes(image)
    )
    expect(loose).toEqual([])
    expect(all).toEqual(expect.arrayContaining(names))
    expect(stages).toHaveLength(instructions.filter((line) => line.startsWith('FROM')).length)
  })

  test.each(names)('%s ends as a user that is not root, by number', (name) => {
    const users = stage(instructions, name).filter((line) => line.startsWith('USER'))
    expect(users.at(-1)).toMatch(/^USER ([1-9]\d{3,}):\1$/)
  })

  test('packages come without recommendations and leave no lists', () => {
    const installs = instructions.filter((line) => line.includes('apt-get install'))
    expect(installs.length).toBeGreaterThan(1)
    for (const line of installs)
      expect(line).toMatch(/apt-get install -y --no-install-recommends .* && rm -rf \/var\/lib\/apt\/lists/)
  })

  test('nothing is downloaded past a package manager', () => {
    expect(instructions.filter((line) => /\b(curl|wget)\b|^ADD /.test(line))).toEqual([])
  })

  test('k6 is the one of the tests, checked by Go, with its licence', () => {
    const [version = ''] = /go\.k6\.io\/k6@v[\d.]+/.exec(readFileSync('.ci/run', 'utf8')) ?? []
    expect(version).not.toBe('')
    expect(stage(instructions, 'k6')).toEqual([
      `RUN CGO_ENABLED=0 GOBIN=/built go install -trimpath ${version}`
    ])
    // Nothing turns Go's checksum database off.
    expect(instructions.filter((line) => /\bGO(?!BIN\b)[A-Z]+=/.test(line))).toEqual([])
    const image = stage(instructions, names[0]!)
    expect(image.filter((line) => line.includes('--from=k6'))).toEqual([
      'COPY --from=k6 /built/k6 /usr/local/bin/k6',
      `COPY --from=k6 /go/pkg/mod/${version}/LICENSE.md /usr/share/doc/k6/LICENSE.md`
    ])
    expect(image.find((line) => line.startsWith('LABEL'))).toContain('licenses="MIT AND AGPL-3.0-only"')
  })
})

describe(SERVICE, () => {
  const instructions = instructionsOf(SERVICE)
  const last = stage(instructions, 'service')

  test('starts from the same base as the nodes', () => {
    const baseOf = (file: string): string | undefined => stagesOf(instructionsOf(file))[0]?.[0]
    expect(baseOf(SERVICE)).toBe(baseOf(NODE))
  })

  test('signals reach the service: no shell is in between', () => {
    const [entrypoint] = last.filter((line) => /^(ENTRYPOINT|CMD)/.test(line))
    const words = JSON.parse(entrypoint!.replace('ENTRYPOINT ', '')) as string[]
    expect(words).toEqual(['tini', '--', 'loadgate', 'serve', '--config', '/etc/loadgate/service.yml'])
    expect(last).toContain('STOPSIGNAL SIGTERM')
    expect(instructions.join('\n')).toMatch(/apt-get install .* tini /)
  })

  test('says where it listens, what it writes to and how it is', () => {
    expect(last).toEqual(expect.arrayContaining(['EXPOSE 8443', 'VOLUME /var/lib/loadgate']))
    expect(last.filter((line) => /^HEALTHCHECK .*\/healthz/.test(line))).toHaveLength(1)
    const [labels = ''] = last.filter((line) => line.startsWith('LABEL'))
    for (const name of ['title', 'description', 'source', 'licenses'])
      expect(labels).toContain(`org.opencontainers.image.${name}="`)
  })

  test('the steps are in the script that also runs without Docker', () => {
    const runs = instructions.filter((line) => /^RUN (?!apt-get)/.test(line))
    expect(runs).toEqual([
      expect.stringContaining('images/service/build.sh'),
      // Not part of the package: whoever runs the service without Docker installs it.
      expect.stringContaining('go install -trimpath go.k6.io/k6@v'),
      expect.stringMatching(/^RUN groupadd /)
    ])
  })

  test('its context has everything that the npm package is made of', () => {
    const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] }
    const sent = readFileSync(`${SERVICE}.dockerignore`, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1))
    const missing = files
      .filter((path) => !path.startsWith('!'))
      .filter((path) => !sent.some((folder) => path === folder || path.startsWith(`${folder}/`)))
    expect(missing).toEqual([])
  })
})
