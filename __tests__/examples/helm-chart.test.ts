import { afterAll, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments, parse } from 'yaml'
import type { ServiceConfig } from '../../src/service/config/config.js'
import { parseConfig } from '../../src/service/config/parse-config.js'
import { type Manifest, readServiceManifest } from '../support/kubernetes/service-manifest.js'
import { CHART, findHelm } from '../support/kubernetes/helm.js'

const HELM = findHelm()
const folder = mkdtempSync(join(tmpdir(), 'loadgate-chart-'))
const URL_VALUE = ['--set', 'externalUrl=https://load.example.com']

function helm(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(HELM ?? '', args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

function render(...values: string[]): Manifest[] {
  const name = values.includes('--name-template') ? [] : ['loadgate']
  const { status, stdout, stderr } = helm('template', ...name, CHART, '-n', 'loadgate', ...values)
  if (status !== 0) throw new Error(stderr)
  const documents = parseAllDocuments(stdout, { version: '1.1' })
  return [...documents].map((document) => document.toJS() as Manifest | null).filter((each) => each !== null)
}

/** With a file of values, given as JSON. */
function renderWith(values: object, release = 'loadgate'): Manifest[] {
  const file = join(folder, 'values.json')
  writeFileSync(file, JSON.stringify(values))
  return render('-f', file, ...URL_VALUE, '--name-template', release)
}

function configOf(documents: readonly Manifest[]): ServiceConfig {
  const { data } = documents.find(({ kind }) => kind === 'ConfigMap') as unknown as {
    data: Record<string, string>
  }
  const { config, problems } = parseConfig(data['service.yml'] ?? '', '/etc/loadgate')
  expect(problems).toEqual([])
  return config!
}

/** Every text and number, with the keys that lead to it. */
function leavesOf(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]]
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, `${path}.${key}`))
}

/** What the chart adds to tell its releases apart, and what Kubernetes has by default. */
const ADDED = new Set([
  ...['app.kubernetes.io/instance', 'app.kubernetes.io/managed-by', 'helm.sh/chart'],
  ...['annotations', 'imagePullPolicy']
])
/** Every object of the chart has these as labels; in the manifest only the StatefulSet and what selects its pods need them. */
const LABELS = new Set(['app.kubernetes.io/name', 'app.kubernetes.io/component'])

function compared(value: unknown, key = ''): unknown {
  if (key === 'service.yml') return parse(value as string) as unknown
  if (Array.isArray(value)) return value.map((each) => compared(each))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(
    ([name]) => !ADDED.has(name) && !(key === 'labels' && LABELS.has(name))
  )
  return Object.fromEntries(
    entries
      .map(([name, inner]) => [name, compared(inner, name)] as const)
      .filter(([name, inner]) => name !== 'labels' || Object.keys(inner as object).length > 0)
  )
}

const byName = (documents: readonly unknown[]): unknown[] =>
  documents.toSorted((one, other) => keyOf(one).localeCompare(keyOf(other)))
const keyOf = (each: unknown): string => {
  const { kind, metadata } = each as Manifest
  return `${kind} ${metadata.namespace ?? ''} ${metadata.name}`
}

/** What is not text in the objects of the chart. */
const NUMBERS =
  /\.(replicas|runAs\w+|fsGroup|port|containerPort|\w+Seconds|failureThreshold|defaultMode|readOnly\w*|allowPrivilegeEscalation)$/

const describeWithHelm = HELM === undefined ? describe.skip : describe
if (HELM === undefined) console.warn('Skipped: the chart needs helm, on the PATH or named by HELM.')

describeWithHelm('the chart', () => {
  afterAll(() => rmSync(folder, { recursive: true }))

  test('has nothing that helm warns of', () => {
    expect(helm('lint', CHART, '--strict', ...URL_VALUE)).toMatchObject({ status: 0 })
  })

  test('is the manifest, but for the namespace that is made before it', () => {
    const manifest = readServiceManifest().filter(
      ({ kind, metadata }) => kind !== 'Namespace' || metadata.name !== 'loadgate'
    )
    expect(byName(render(...URL_VALUE).map((each) => compared(each)))).toEqual(
      byName(manifest.map((each) => compared(each)))
    )
  })

  test('refuses to be installed without an address, and keys of the config file that are its own', () => {
    expect(() => render()).toThrow('externalUrl is missing: the address that gates name in base-url')
    expect(() => render(...URL_VALUE, '--set', 'config.listen=0.0.0.0:1')).toThrow(/listen/)
    expect(() => render(...URL_VALUE, '--set', 'storage.sise=1Gi')).toThrow(/sise/)
  })

  test('takes keys of the config file, secrets and a claim', () => {
    const documents = renderWith({
      ...{ config: { 'max-nodes': 3 }, extraSecrets: ['loadgate-login'], metrics: { secret: '' } },
      ...{ storage: { existingClaim: 'old' }, grids: { create: false } },
      ...{ networkPolicy: false, service: { type: 'LoadBalancer' } }
    })
    const find = (kind: string): string => JSON.stringify(documents.filter((each) => each.kind === kind))
    expect(configOf(documents)).toMatchObject({ maxNodes: 3, metrics: undefined })
    expect([find('Namespace'), find('PersistentVolumeClaim'), find('NetworkPolicy')]).toEqual([
      '[]',
      '[]',
      '[]'
    ])
    expect(find('StatefulSet')).toMatch(/"secret":\{"name":"loadgate-login"\}.*"claimName":"old"/)
    expect(find('StatefulSet')).not.toContain('loadgate-metrics')
    expect(find('Service')).toContain('"type":"LoadBalancer"')
  })

  test('the service has its rights in the namespace of each region, and nowhere else', () => {
    const place = (namespace?: string): object => ({ kubernetes: { ...(namespace && { namespace }) } })
    const regions = { cluster: place('one'), eu: place('two'), us: place('one'), here: { processes: {} } }
    const documents = renderWith({ config: { regions } })
    const places = [...configOf(documents).regions!.values()]
    const named = places.flatMap((each) => (each.kind === 'kubernetes' ? [each.namespace] : []))
    for (const sort of ['Role', 'RoleBinding', 'Namespace'])
      expect(
        documents
          .filter(({ kind }) => kind === sort)
          .map(({ metadata }) => (sort === 'Namespace' ? metadata.name : metadata.namespace))
      ).toEqual([...new Set(named)])
    const none = 'config.regions.eu.kubernetes.namespace is missing'
    expect(() => renderWith({ config: { regions: { eu: place() } } })).toThrow(none)
    const own = 'config.regions.eu.kubernetes.namespace is that of the service'
    expect(() => renderWith({ config: { regions: { eu: place('loadgate') } } })).toThrow(own)
    const context = { eu: { kubernetes: { namespace: 'two', context: 'other' } } }
    expect(() => renderWith({ config: { regions: context } })).toThrow('the chart has no kubeconfig')
  })

  test.each(['10m', '1h30m', '90s', '08m', 600, '600', 1_000_000])(
    'with drain %p the pod has two minutes more than that to end',
    (drain) => {
      const documents = renderWith({ config: { drain } })
      const { template } = documents.find(({ kind }) => kind === 'StatefulSet')!.spec as {
        template: { spec: { terminationGracePeriodSeconds: number } }
      }
      expect(template.spec.terminationGracePeriodSeconds).toBe(configOf(documents).drainMs / 1000 + 120)
    }
  )

  test('refuses a drain that is no duration, and one that the service would refuse', () => {
    expect(() => renderWith({ config: { drain: '10 minutes' } })).toThrow(/drain.*10 minutes/)
  })

  test.each(['123e45', 'true', 'null', '0o17', '1_000', '~'])(
    '%p stays text wherever it is a value',
    (text) => {
      const values = {
        ...{ image: { repository: text, tag: text }, imagePullSecrets: [{ name: text }] },
        ...{ tls: { secret: text }, metrics: { secret: text }, extraSecrets: [text] },
        ...{ storage: { size: text, className: text }, nodeSelector: { [text]: text } },
        env: { [text]: text },
        service: { annotations: { [text]: text, lines: `${text}\n${text}: x` } },
        config: {
          login: {
            issuer: 'https://id.example.com',
            'client-id': text,
            'client-secret-file': text,
            admins: [text]
          }
        }
      }
      const documents = renderWith(values)
      const wrong = leavesOf(documents).filter(
        ([path, value]) => typeof value !== 'string' && !NUMBERS.test(path)
      )
      expect(wrong).toEqual([])
      const found = leavesOf(documents).filter(([, value]) => value === text)
      expect(found.length).toBe(10)
      expect(JSON.stringify(documents)).toContain(JSON.stringify(`${text}:${text}`))
      expect(JSON.stringify(documents)).toContain(JSON.stringify(`${text}\n${text}: x`))
      expect(configOf(documents).login).toMatchObject({ clientId: text, groups: { admin: [text] } })
    }
  )

  test('refuses values that Kubernetes takes as text only', () => {
    expect(() => renderWith({ service: { annotations: { a: true } } })).toThrow(/annotations/)
    expect(() => renderWith({ nodeSelector: { a: 1 } })).toThrow(/nodeSelector/)
    expect(() => renderWith({ env: { A: 1 } })).toThrow(/env/)
    expect(() => renderWith({ image: { tag: 12 } })).toThrow(/tag/)
    expect(() => render(...URL_VALUE, '--set', 'storage=null')).toThrow(/storage/)
  })

  test('its objects have names that Kubernetes accepts, or it says why not', () => {
    const longest = `a${'b'.repeat(51)}`
    for (const { metadata } of renderWith({}, longest)) expect(['load', longest]).toContain(metadata.name)
    for (const name of [`${longest}c`, '1load', 'load.gate'])
      expect(() => renderWith({}, name)).toThrow('is no name for the release')
  })

  test('another config is another pod', () => {
    const annotationOf = (...values: string[]): string | undefined =>
      /"checksum\/config":"(\w+)"/.exec(JSON.stringify(render(...URL_VALUE, ...values)))?.[1]
    expect(annotationOf()).toMatch(/^[0-9a-f]{64}$/)
    expect(annotationOf('--set', 'config.max-nodes=3')).not.toBe(annotationOf())
  })
})
