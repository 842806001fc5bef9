import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{isBusy}from"./chunk-OYC7F2GB.js";import{clauseOf,messageOf}from"./chunk-WFH5KHJ7.js";import{ClusterError}from"./chunk-YGMXUL55.js";import"./chunk-K5Y2IR4E.js";var RULES=[{group:"batch",resource:"jobs",verbs:["create","get","list","watch","delete"]},{group:"",resource:"pods",verbs:["get","list","watch"]},{group:"",resource:"pods/exec",verbs:["get","create"]},{group:"",resource:"pods/log",verbs:["get"]},{group:"",resource:"events",verbs:["list","watch"]}],SERVICE_ACCOUNT=/^system:serviceaccount:([^:]+):([^:]+)$/;function grantManifest(namespace,user=`system:serviceaccount:${namespace}:loadgate`){return`apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: loadgate
  namespace: ${quote(namespace)}
rules:
${RULES.map(ruleLines).join(`
`)}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: loadgate
  namespace: ${quote(namespace)}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: loadgate
subjects:
${subjectLines(user)}
`}function ruleLines({group,resource,verbs}){return`  - apiGroups: ['${group}']
    resources: ['${resource}']
    verbs: [${verbs.map(verb=>`'${verb}'`).join(", ")}]`}function subjectLines(user){let[,namespace,name]=SERVICE_ACCOUNT.exec(user)??[];return namespace===void 0||name===void 0?`  - apiGroup: rbac.authorization.k8s.io
    kind: User
    name: ${quote(user)}`:`  - kind: ServiceAccount
    name: ${quote(name)}
    namespace: ${quote(namespace)}`}function quote(text){return/^[a-z][a-z\d-]*$/.test(text)&&!/^(null|true|false|yes|no|on|off|y|n)$/.test(text)?text:JSON.stringify(text)}import{setTimeout as sleep}from"node:timers/promises";var PATIENCE={limitMs:2e4,now:()=>Date.now(),wait:(delayMs,signal)=>sleep(delayMs,void 0,{...signal&&{signal}})},FIRST_RETRY_MS=500,LAST_RETRY_MS=5e3;function askPatiently(cluster,{limitMs,now,wait}){let deadlineMs=now()+limitMs;return{...cluster,request:async(...request)=>{for(let delayMs=FIRST_RETRY_MS;;delayMs=Math.min(2*delayMs,LAST_RETRY_MS))try{return await cluster.request(...request)}catch(error){if(!isBusy(error))throw error;let waitMs=error.retryAfterMs??delayMs;if(now()+waitMs>deadlineMs)throw stillBusy(error,limitMs);await wait(waitMs,request[2]?.signal)}}}}function stillBusy(error,limitMs){return new ClusterError(`The cluster has been too busy for ${limitMs/1e3} s: ${clauseOf(error)}. Run again later.`,error.status,{cause:error})}var OLDEST_MINOR=29;async function checkAccess(asked,signal,patience=PATIENCE){let cluster=askPatiently(asked,patience),options=signal===void 0?{}:{signal},version;try{version=await cluster.request("GET","/version",options)}catch(error){if(signal?.throwIfAborted(),!(error instanceof ClusterError)||error.status!==403)return[{message:messageOf(error)}]}let[namespace,permissions]=await Promise.all([checkNamespace(cluster,options),checkPermissions(cluster,options)]);signal?.throwIfAborted();let missing=namespace.mayBeMissing?permissions.map(problem=>orNoNamespace(problem,cluster)):permissions;return[...checkVersion(cluster,version),...namespace.problems,...missing]}function describeAccess(problems){return problems.map(({message,manifest})=>manifest===void 0?message:`${message} This grants it (kubectl apply -f -):

${manifest.trimEnd()}
`).join(`
`)}function checkVersion(cluster,version){let major=Number.parseInt(version?.major??"",10),minor=Number.parseInt(version?.minor??"",10);return major<1||major===1&&minor<OLDEST_MINOR?[{message:`The cluster of ${cluster.name} is Kubernetes ${version?.gitVersion??`${major}.${minor}`}; the oldest supported version is 1.${OLDEST_MINOR}.`}]:[]}async function checkNamespace(cluster,options){let{namespace}=cluster.address;try{return await cluster.request("GET",`/api/v1/namespaces/${encodeURIComponent(namespace)}`,options),{problems:[],mayBeMissing:!1}}catch(error){return error instanceof ClusterError&&error.status===404?found(`There is no ${cluster.name}: ${error.message}. Create it (kubectl create namespace ${namespace}), or set \`namespace\` in \`regions\`.`):error instanceof ClusterError&&error.status===403?{problems:[],mayBeMissing:!0}:found(messageOf(error))}}function found(message){return{problems:[{message}],mayBeMissing:!1}}function orNoNamespace(problem,{address:{namespace}}){let words=`Or the namespace does not exist, which this user may not find out: check \`namespace\` in \`regions\` (${namespace}).`;return{...problem,message:`${asSentence(problem.message)} ${words}`}}function asSentence(text){return/[.!?]$/.test(text)?text:`${text}.`}async function checkPermissions(cluster,options){try{let missing=(await Promise.all(RULES.map(rule=>missingOf(cluster,rule,options)))).filter(({verbs})=>verbs.length>0);return missing.length===0?[]:[await describeMissing(cluster,missing,options)]}catch(error){return[{message:`The permissions in ${cluster.name} could not be checked: ${messageOf(error)}`}]}}async function missingOf(cluster,rule,options){let answers=await Promise.all(rule.verbs.map(verb=>mayI(cluster,rule,verb,options)));return{...rule,verbs:rule.verbs.filter((_,index)=>answers[index]!==!0)}}async function mayI(cluster,{group,resource:path},verb,options){let[resource,subresource]=path.split("/"),attributes={namespace:cluster.address.namespace,group,resource,subresource,verb},{status}=await cluster.request("POST","/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",{...options,body:{apiVersion:"authorization.k8s.io/v1",kind:"SelfSubjectAccessReview",spec:{resourceAttributes:attributes}}});return status?.allowed===!0}async function describeMissing(cluster,missing,options){let user=await whoAmI(cluster,options),list=missing.map(({group,resource,verbs})=>`${verbs.join(", ")} ${resource}${group===""?"":`.${group}`}`);return{message:`In ${cluster.name}, ${user===void 0?"the user of the kubeconfig":`the user ${user}`} is not allowed to: ${list.join("; ")}.`,manifest:grantManifest(cluster.address.namespace,user)}}async function whoAmI(cluster,options){try{return(await cluster.request("POST","/apis/authentication.k8s.io/v1/selfsubjectreviews",{...options,body:{apiVersion:"authentication.k8s.io/v1",kind:"SelfSubjectReview"}})).status?.userInfo?.username}catch{return}}export{checkAccess,describeAccess};
