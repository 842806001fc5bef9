import { describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { parseAllDocuments, parse } from 'yaml'
import { parseConfig } from '../../src/service/config/parse-config.js'
import { type Manifest, readServiceManifest } from '../support/kubernetes/service-manifest.js'
import { CHART, findHelm } from '../support/kubernetes/helm.js'

const HELM = findHelm()
const URL_VALUE = ['--set', 'externalUrl=https://load.example.com']

function helm(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(HELM ?? '', args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

function render(...values: string[]): Manifest[] {
  const { status, stdout, stderr } = helm('template', 'loadgate', CHART, '-n', 'loadgate', ...values)
  if (status !== 0) throw new Error(stderr)
  const documents = parseAllDocuments(stdout, { version: '1.1' })
  return [...documents].map((document) => document.toJS() as Manifest | null).filter((each) => each !== null)
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

const describeWithHelm = HELM === undefined ? describe.skip : describe
if (HELM === undefined) console.warn('Skipped: the chart needs helm, on the PATH or named by HELM.')

describeWithHelm('the chart', () => {
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

  test('takes keys of the config file, secrets, a claim and namespaces of grids', () => {
    const documents = render(
      ...[...URL_VALUE, '--set', 'config.max-nodes=3', '--set', 'extraSecrets={loadgate-login}'],
      ...[
        '--set',
        'storage.existingClaim=old',
        '--set',
        'grids.namespaces={one,two}',
        '--set',
        'grids.create=false'
      ],
      ...['--set', 'metrics.secret=', '--set', 'networkPolicy=false', '--set', 'service.type=LoadBalancer']
    )
    const find = (kind: string): string => JSON.stringify(documents.filter((each) => each.kind === kind))
    const config = documents.find(({ kind }) => kind === 'ConfigMap') as unknown as {
      data: Record<string, string>
    }
    const read = parseConfig(config.data['service.yml'] ?? '', '/etc/loadgate')
    expect(read.problems).toEqual([])
    expect(read.config).toMatchObject({ maxNodes: 3, metrics: undefined })
    expect(documents.filter(({ kind }) => kind === 'Role').map(({ metadata }) => metadata.namespace)).toEqual(
      ['one', 'two']
    )
    expect([find('Namespace'), find('PersistentVolumeClaim'), find('NetworkPolicy')]).toEqual([
      '[]',
      '[]',
      '[]'
    ])
    expect(find('StatefulSet')).toMatch(/"secret":\{"name":"loadgate-login"\}.*"claimName":"old"/)
    expect(find('StatefulSet')).not.toContain('loadgate-metrics')
    expect(find('Service')).toContain('"type":"LoadBalancer"')
  })

  test('another config is another pod', () => {
    const annotationOf = (...values: string[]): string | undefined =>
      /"checksum\/config":"(\w+)"/.exec(JSON.stringify(render(...URL_VALUE, ...values)))?.[1]
    expect(annotationOf()).toMatch(/^[0-9a-f]{64}$/)
    expect(annotationOf('--set', 'config.max-nodes=3')).not.toBe(annotationOf())
  })
})
