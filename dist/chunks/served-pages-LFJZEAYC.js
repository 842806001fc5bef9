import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{LIST_SCRIPT,LIST_SCRIPT_HASH,PAGE_STYLE,buildPageDocument,formatElapsed,formatNumber,formatPercent,formatTime,pagePolicy,renderPageDocument,renderTable}from"./chunk-PV5XDHEY.js";import"./chunk-H67GVVVU.js";import{REHEARSAL,cutToBytes,escapeHtml}from"./chunk-5NCABHHF.js";import"./chunk-IPCM4CIG.js";import"./chunk-NKF2HAIF.js";import"./chunk-UEFCZ64M.js";import"./chunk-K5Y2IR4E.js";var TITLE="Load tests on this machine",MOST_TITLE_BYTES=500,HEADINGS=["Run","Status","Apdex","Duration","Samples","Errors","Created"];function renderListPage(list,eventsPath){let policy=pagePolicy({eventsPath},LIST_SCRIPT_HASH);return{html:`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="color-scheme" content="light dark">
<title>${TITLE}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<button type="button" id="theme" hidden="">Dark</button>
<main>
<h1>${TITLE}</h1>
<section class="card" aria-label="Runs"><p id="connection" class="hint" role="status"></p>
<div id="runs" data-events="${escapeHtml(eventsPath)}">${renderRunList(list)}</div></section>
</main>
<script>${LIST_SCRIPT}</script>
</body>
</html>
`,policy}}function renderRunList(list){let{runs}=list;return runs.length===0?"<p>No runs yet.</p>":`${renderTable({name:"Runs",headings:HEADINGS,rows:runs.map(renderLine)})}${renderPages(list)}`}function renderPages({runs,first,total,...paths}){if(runs.length===total)return"";let link=(path,words,more="")=>path===void 0?"":`<a href="${escapeHtml(path)}"${more}>${words}</a>`,last=first+runs.length-1;return`<nav class="bar pages" aria-label="Pages">
<div class="tools">${link(paths.newestPath,"Newest")}${link(paths.newerPath,"\u2190 Newer",' rel="prev"')}</div>
<span class="hint number">${formatNumber(first)} to ${formatNumber(last)} of ${formatNumber(total)} runs</span>
<div class="tools">${link(paths.olderPath,"Older \u2192",' rel="next"')}${link(paths.oldestPath,"Oldest")}</div>
</nav>`}function renderLine(run){let mark=run.rehearsal?` <span class="pill doubtful">${REHEARSAL}</span>`:"",cells=[`<td>${renderStatus(run)}</td>`,number(escapeHtml(run.apdex??"\u2013")),number(run.elapsedMs===void 0?"\u2013":formatElapsed(Math.round(run.elapsedMs/1e3))),number(formatNumber(run.samples??null)),number(formatPercent(run.errorRate??null)),number(formatTime(run.createdMs))],name=run.name===void 0||run.name.trim()===""?run.id:run.name;return`<tr><th scope="row">${`<a href="${escapeHtml(run.path)}">${escapeHtml(name)}</a>`}${mark}</th>${cells.join("")}</tr>`}function renderStatus({status,problem,isLoadLost=!1}){let isDoubtful=status==="finished"&&isLoadLost,tone=status==="problem"?"bad":isDoubtful?"doubtful":"neutral",title=problem===void 0?"":` title="${escapeHtml(cutToBytes(problem,MOST_TITLE_BYTES))}"`;return`<span class="pill ${tone}"${title}>${status}${isDoubtful?", load lost":""}</span>`}function number(text){return`<td class="number">${text}</td>`}var WINDOW_MS=5e3;function renderRunPage(page,paths){let{homePath}=paths,used=page.live===void 0?{homePath}:paths;return{html:renderPageDocument(page,used),policy:pagePolicy(used)}}function describeRun(run){let isLive=run.status!=="finished"&&run.status!=="problem",targetMs=run.apdexTargetMs,score=targetMs===void 0?void 0:run.measurements?.figures({})?.apdex(targetMs),document=buildPageDocument({verdict:run.status,reason:explain(run),run:{...run,url:void 0},apdex:score===void 0||targetMs===void 0?void 0:{score,targetMs},summary:run.summary,rehearsal:run.rehearsal,judgements:[],grids:run.grids,measurements:run.measurements,warnings:run.warnings,remoteErrors:run.status==="finished"?run.problem?.split(`
`)??[]:[],notes:[]});return isLive?{...document,series:document.series&&finishedPart(document.series),live:describeProgress(run)}:document}function explain(run){let samples=run.measurements?.figures({})?.samples??0,count=`${formatNumber(samples)} ${samples===1?"sample":"samples"}`;switch(run.status){case"queued":return"The run is waiting for its grids.";case"running":return samples===0?"The run has started; there are no samples yet.":`${count} so far.`;case"stopping":return`The run is being stopped; ${count} so far.`;case"problem":return run.problem??"The run failed.";case"finished":return samples===0?"No samples were recorded.":`${count} in ${formatElapsed(Math.round(lengthOf(run)/1e3))}.`}}function lengthOf({startedMs,stoppedMs,nowMs}){return startedMs===void 0?0:Math.max(0,(stoppedMs??nowMs)-startedMs)}function describeProgress(run){let{durationSeconds,startedMs,measurements}=run;return{elapsedMs:startedMs===void 0?null:lengthOf(run),durationMs:durationSeconds===void 0?null:durationSeconds*1e3,now:measurements?.series===void 0?null:describeNow(finishedPart(measurements.series))}}function finishedPart(series){let{bucketMs,...lists}=series;if(lists.atMs.length<2)return series;let cut=Object.entries(lists).map(([name,list])=>[name,list.slice(0,-1)]);return{bucketMs,...Object.fromEntries(cut)}}function describeNow({bucketMs,throughput,failures,p95Ms}){let points=Math.min(throughput.length,Math.ceil(WINDOW_MS/bucketMs)),sum=list=>list.slice(-points).reduce((all,one)=>all+one,0);return{windowMs:points*bucketMs,throughput:sum(throughput)/points,failures:sum(failures),bucketMs,p95Ms:p95Ms.at(-1)??null}}export{describeRun,renderListPage,renderRunList,renderRunPage};
