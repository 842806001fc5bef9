export type { KubernetesPlace, Place, Regions } from './parse-regions.js'

/** A namespace of a cluster; never contents of a kubeconfig. */
export interface ClusterAddress {
  /** The paths of `KUBECONFIG`, or its default; undefined within a cluster. */
  readonly kubeconfig: string | undefined
  readonly context: string
  readonly namespace: string
}

/** What a person types to delete the Jobs with these labels, who has access to the cluster when this process has none. */
export function kubectlDelete({ kubeconfig, context, namespace }: ClusterAddress, selector: string): string {
  const where = kubeconfig === undefined ? [] : ['--context', word(context)]
  return ['kubectl delete job', '-n', word(namespace), ...where, '-l', word(selector)].join(' ')
}

/** Names of contexts may contain anything; what needs no quotes is easier to read without. */
function word(text: string): string {
  return /^[\w.:/@=,-]+$/.test(text) ? text : quote(text)
}

/** One word of POSIX sh, whatever its characters. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A region as part of a file name: regions come from services and settings, and may contain anything. */
export function regionName(region: string): string {
  return region.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60) || 'unknown'
}
