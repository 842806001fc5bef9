import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
function quote(text){return`'${text.replaceAll("'","'\\''")}'`}function kubectlDelete({kubeconfig,context,namespace},selector){let where=kubeconfig===void 0?[]:["--context",word(context)];return["kubectl delete job","-n",word(namespace),...where,"-l",word(selector)].join(" ")}function word(text){return/^[\w.:/@=,-]+$/.test(text)?text:quote(text)}export{quote,kubectlDelete};
