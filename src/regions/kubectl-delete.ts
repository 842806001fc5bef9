/** Where it is typed: within a cluster there is no kubeconfig. */
interface Address {
  readonly kubeconfig: string | undefined
  readonly context: string
  readonly namespace: string
}

/** What a person types to delete the Jobs with these labels, who has access to the cluster when this process has none. */
export function kubectlDelete({ kubeconfig, context, namespace }: Address, selector: string): string {
  const where = kubeconfig === undefined ? [] : ['--context', quote(context)]
  return ['kubectl delete job', '-n', quote(namespace), ...where, '-l', quote(selector)].join(' ')
}

/** Names of contexts may contain anything. */
function quote(text: string): string {
  return /^[\w.:/@=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
