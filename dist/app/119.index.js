export const id=119;export const ids=[119];export const modules={39119:((e,t,s)=>{s.r(t),s.d(t,{describeRun:()=>f,renderListPage:()=>c,renderRunList:()=>h,renderRunPage:()=>v});var n=s(9924),r=s(44247),a=s(50114),i=s(63193),l=s(34294),o=s(28399);let u="Load tests on this machine",d=["Run","Status","Apdex","Duration","Samples","Errors","Created"];function c(e,t){let s=(0,o.K_)({eventsPath:t},a.qh);return{html:`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${s}">
<meta name="color-scheme" content="light dark">
<title>${u}</title>
<style>${a.Ww}</style>
</head>
<body>
<button type="button" id="theme" hidden="">Dark</button>
<main>
<h1>${u}</h1>
<section class="card" aria-label="Runs"><p id="connection" class="hint" role="status"></p>
<div id="runs" data-events="${(0,n.ZD)(t)}">${h(e)}</div></section>
</main>
<script>${a.zx}<\/script>
</body>
</html>
`,policy:s}}function h(e){let{runs:t}=e;return 0===t.length?"<p>There are no runs yet.</p>":`${(0,l.bo)({name:"Runs",headings:d,rows:t.map(m)})}${function({runs:e,first:t,total:s,...r}){if(e.length===s)return"";let a=(e,t,s="")=>void 0===e?"":`<a href="${(0,n.ZD)(e)}"${s}>${t}</a>`,l=t+e.length-1;return`<nav class="bar pages" aria-label="Pages">
<div class="tools">${a(r.newestPath,"Newest")}${a(r.newerPath,"\u2190 Newer",' rel="prev"')}</div>
<span class="hint number">${(0,i.ZV)(t)} to ${(0,i.ZV)(l)} of ${(0,i.ZV)(s)} runs</span>
<div class="tools">${a(r.olderPath,"Older \u2192",' rel="next"')}${a(r.oldestPath,"Oldest")}</div>
</nav>`}(e)}`}function m(e){let t="problem"===e.status?"bad":"neutral",s=e.rehearsal?` <span class="pill doubtful">${r.C}</span>`:"",a=[`<td><span class="pill ${t}">${e.status}</span></td>`,p((0,n.ZD)(e.apdex??"\u2013")),p(void 0===e.elapsedMs?"\u2013":(0,i.C7)(Math.round(e.elapsedMs/1e3))),p((0,i.ZV)(e.samples??null)),p((0,i.l9)(e.errorRate??null)),p((0,i.fU)(e.createdMs))],l=void 0===e.name||""===e.name.trim()?e.id:e.name,o=`<a href="${(0,n.ZD)(e.path)}">${(0,n.ZD)(l)}</a>`;return`<tr><th scope="row">${o}${s}</th>${a.join("")}</tr>`}function p(e){return`<td class="number">${e}</td>`}var $=s(89995);function v(e,t){let{homePath:s}=t,n=void 0===e.live?{homePath:s}:t;return{html:(0,o.hZ)(e,n),policy:(0,o.K_)(n)}}function f(e){let t="finished"!==e.status&&"problem"!==e.status,s=e.apdexTargetMs,n=void 0===s?void 0:e.measurements?.figures({})?.apdex(s),r=(0,$.b)({verdict:e.status,reason:function(e){let t=e.measurements?.figures({})?.samples??0,s=`${(0,i.ZV)(t)} ${1===t?"sample":"samples"}`;switch(e.status){case"queued":return"The run waits for its grids.";case"running":return 0===t?"The run has started; there are no samples yet.":`${s} so far.`;case"stopping":return`The run is being stopped; ${s} so far.`;case"problem":return e.problem??"The run ended badly.";case"finished":return 0===t?"No samples were taken.":`${s} in ${(0,i.C7)(Math.round(b(e)/1e3))}.`}}(e),run:{...e,url:void 0},apdex:void 0===n||void 0===s?void 0:{score:n,targetMs:s},summary:e.summary,rehearsal:e.rehearsal,judgements:[],grids:e.grids,measurements:e.measurements,warnings:[],remoteErrors:"finished"===e.status?e.problem?.split("\n")??[]:[],notes:[]});return t?{...r,series:r.series&&g(r.series),live:function(e){let{durationSeconds:t,startedMs:s,measurements:n}=e;return{elapsedMs:void 0===s?null:b(e),durationMs:void 0===t?null:1e3*t,now:n?.series===void 0?null:function({bucketMs:e,throughput:t,failures:s,p95Ms:n}){let r=Math.min(t.length,Math.ceil(5e3/e)),a=e=>e.slice(-r).reduce((e,t)=>e+t,0);return{windowMs:r*e,throughput:a(t)/r,failures:a(s),bucketMs:e,p95Ms:n.at(-1)??null}}(g(n.series))}}(e)}:r}function b({startedMs:e,stoppedMs:t,nowMs:s}){return void 0===e?0:Math.max(0,(t??s)-e)}function g(e){let{bucketMs:t,...s}=e;return s.atMs.length<2?e:{bucketMs:t,...Object.fromEntries(Object.entries(s).map(([e,t])=>[e,t.slice(0,-1)]))}}})};
