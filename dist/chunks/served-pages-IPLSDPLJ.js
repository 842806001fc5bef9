import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{LIST_SCRIPT,LIST_SCRIPT_HASH,PAGE_STYLE,PAGE_STYLE_HASH,buildPageDocument,formatElapsed,formatNumber,formatPercent,formatTime,pagePolicy,renderPageDocument,renderTable,renderTop}from"./chunk-C4OTO3RZ.js";import"./chunk-Z77NUUV6.js";import{REHEARSAL,cutToBytes,escapeHtml}from"./chunk-2P7WVJD7.js";import"./chunk-IPCM4CIG.js";import"./chunk-NKF2HAIF.js";import"./chunk-UEFCZ64M.js";import"./chunk-K5Y2IR4E.js";import{createHash}from"node:crypto";var STYLE=".login{max-width:30rem;width:100%;margin:10vh auto 0}.login form{display:grid;gap:.75rem;margin-top:1rem}.login input{font:inherit;color:var(--text);background:var(--page);border:1px solid var(--muted);border-radius:8px;padding:.5rem .7rem;width:100%}.login button{min-height:2.5rem;font-size:1rem}.login .wrong{color:var(--bad)}",STYLE_HASH=`sha256-${createHash("sha256").update(STYLE).digest("base64")}`,TITLE="Log in to loadgate";function renderLoginPage({next,problem}){let isWrong=problem!==void 0;return renderCard({title:`${isWrong?"Not logged in: ":""}${TITLE}`,heading:TITLE,content:`<form method="post" action="/login">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<input type="text" name="username" value="loadgate" autocomplete="username" hidden="">
<label for="token">Token</label>
<input type="password" id="token" name="token" required autofocus autocomplete="current-password" spellcheck="false"${isWrong?' aria-invalid="true" aria-describedby="problem"':' aria-describedby="hint"'}>
${isWrong?`<p id="problem" class="wrong" role="alert">${escapeHtml(problem)}</p>`:'<p id="hint" class="hint">The one you were given for this service. It starts with lg_, or was printed when the service started.</p>'}
<button type="submit">Log in</button>
</form>`})}function renderDetourPage(path){let address=escapeHtml(path);return renderCard({title:"Opening loadgate",heading:"Opening the page",head:`<meta http-equiv="refresh" content="0; url=${address}">
`,content:`<p>You come from another site. <a href="${address}">Go on</a> if the page does not open by itself.</p>`})}function renderCard(card){let policy=["default-src 'none'",`style-src '${PAGE_STYLE_HASH}' '${STYLE_HASH}'`,"base-uri 'none'","form-action 'self'"].join("; ");return{html:`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="color-scheme" content="light dark">
${card.head??""}<title>${card.title}</title>
<style>${PAGE_STYLE}</style>
<style>${STYLE}</style>
</head>
<body>
<main>
<section class="card login" aria-labelledby="title">
<h1 id="title">${card.heading}</h1>
${card.content}
</section>
</main>
</body>
</html>
`,policy}}function formatPosition(position){let ending=Math.floor(position/10)%10===1?void 0:{1:"st",2:"nd",3:"rd"}[position%10];return`${position.toLocaleString("en-US")}${ending??"th"}`}var TITLE2="Load tests",MOST_TITLE_BYTES=500,HEADINGS=["Run","Status","Verdict","Apdex","Duration","Samples","Errors","Project","Started by","Created"],VERDICT_TONES={passed:"good",failed:"bad",inconclusive:"doubtful","left to the gate":"neutral"};function renderListPage(list,view){let{eventsPath,homePath}=view,policy=pagePolicy({eventsPath,homePath},LIST_SCRIPT_HASH);return{html:`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="color-scheme" content="light dark">
<title>${TITLE2}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<button type="button" id="theme" hidden="">Dark</button>
<main>
${renderTop(view.visitor,{path:homePath,isHere:!0})}
<h1>${TITLE2}</h1>
${renderFilter(view)}
<section class="card" aria-label="Runs"><p id="connection" class="hint" role="status"></p>
<div id="runs" data-events="${escapeHtml(eventsPath)}">${renderRunList(list)}</div></section>
</main>
<script>${LIST_SCRIPT}</script>
</body>
</html>
`,policy}}function renderRunList(list){let{runs}=list;return runs.length===0?list.clearPath===void 0?"<p>No runs yet.</p>":`<p>No runs match. <a href="${escapeHtml(list.clearPath)}">Show all runs</a></p>`:`${renderTable({name:"Runs",headings:HEADINGS,rows:runs.map(renderLine)})}${renderPages(list)}`}function renderFilter({filter,statuses,homePath}){let field=(name,label,hint="")=>`<label>${label} <input type="search" name="${name}" value="${escapeHtml(filter[name]??"")}" maxlength="300" autocomplete="off" spellcheck="false"${hint}></label>`,options=statuses.map(status=>`<option${status===filter.status?' selected=""':""}>${status}</option>`),clear=Object.keys(filter).length===0?"":`<a href="${escapeHtml(homePath)}">Clear the filter</a>`;return`<form class="card filter" method="get" action="${escapeHtml(homePath)}" role="search" aria-label="Filter the runs">
${field("name","Name contains")}
${field("project","Project")}
${field("tag","Tag")}
${field("user","Started by")}
<label>Status <select name="status"><option value="">any</option>${options.join("")}</select></label>
<div class="tools"><button type="submit">Filter</button>${clear}</div>
</form>`}function renderPages({runs,first,total,...paths}){if(runs.length===total)return paths.clearPath===void 0?"":countMatches(total);let link=(path,words,more="")=>path===void 0?"":`<a href="${escapeHtml(path)}"${more}>${words}</a>`,last=first+runs.length-1;return`<nav class="bar pages" aria-label="Pages">
<div class="tools">${link(paths.newestPath,"Newest")}${link(paths.newerPath,"\u2190 Newer",' rel="prev"')}</div>
<span class="hint number">${formatNumber(first)} to ${formatNumber(last)} of ${formatNumber(total)} runs</span>
<div class="tools">${link(paths.olderPath,"Older \u2192",' rel="next"')}${link(paths.oldestPath,"Oldest")}</div>
</nav>`}function countMatches(total){return`<p class="hint number">${formatNumber(total)} ${total===1?"run matches":"runs match"}.</p>`}function renderLine(run){let mark=run.rehearsal?` <span class="pill doubtful">${REHEARSAL}</span>`:"",cells=[`<td>${renderStatus(run)}</td>`,`<td>${renderVerdict(run)}</td>`,number(escapeHtml(run.apdex??"\u2013")),number(run.elapsedMs===void 0?"\u2013":formatElapsed(Math.round(run.elapsedMs/1e3))),number(formatNumber(run.samples??null)),number(formatPercent(run.errorRate??null)),text(run.project),text(run.user),number(formatTime(run.createdMs))],name=run.name===void 0||run.name.trim()===""?run.id:run.name;return`<tr><th scope="row">${`<a href="${escapeHtml(run.path)}">${escapeHtml(name)}</a>`}${mark}</th>${cells.join("")}</tr>`}function renderStatus({status,problem,isLoadLost=!1,queuePosition}){let isDoubtful=status==="finished"&&isLoadLost,position=queuePosition===void 0?"":`, ${formatPosition(queuePosition)}`,tone=status==="problem"?"bad":isDoubtful?"doubtful":"neutral",title=problem===void 0?"":` title="${escapeHtml(cutToBytes(problem,MOST_TITLE_BYTES))}"`;return`<span class="pill ${tone}"${title}>${status}${isDoubtful?", load lost":position}</span>`}function renderVerdict({verdict,reason}){if(verdict===void 0)return"\u2013";if(verdict==="pending")return'<span class="hint">judging\u2026</span>';let title=reason===void 0?"":` title="${escapeHtml(cutToBytes(reason,MOST_TITLE_BYTES))}"`;return`<span class="pill ${VERDICT_TONES[verdict]}"${title}>${verdict}</span>`}function text(words){return`<td class="short">${words===void 0||words.trim()===""?"\u2013":escapeHtml(words)}</td>`}function number(text2){return`<td class="number">${text2}</td>`}var WINDOW_MS=5e3;function renderRunPage(page,paths){let{eventsPath,stopPath,...others}=paths,used=page.live===void 0||eventsPath===void 0?others:{...others,eventsPath,stopPath};return{html:renderPageDocument(page,used),policy:pagePolicy(used)}}function describeRun(run){let{judged}=run,isLive=run.status!=="finished"&&run.status!=="problem",targetMs=run.apdexTargetMs,score=targetMs===void 0?void 0:run.measurements?.figures({})?.apdex(targetMs),document=buildPageDocument({verdict:judged?.verdict??run.status,reason:judged?.verdict===void 0?explain(run):judged.reason,run:{...run,url:void 0},apdex:score===void 0||targetMs===void 0?void 0:{score,targetMs},summary:run.summary,rehearsal:run.rehearsal,judgements:judged?.judgements??[],grids:run.grids,nodes:run.nodes,isAllHere:run.isAllHere??!1,measurements:run.measurements,...judged?.warmUp&&{warmUp:judged.warmUp},warnings:[...run.warnings,...judged?.warnings??[]],remoteErrors:run.status==="finished"?run.problem?.split(`
`)??[]:[],notes:judged?.notes??[]}),thresholds=[...isLive?document.thresholds.map(asSoFar):document.thresholds,...(judged?.left??[]).map(leftToGate)];return isLive?{...document,thresholds,series:document.series&&finishedPart(document.series),live:describeProgress(run)}:{...document,thresholds}}function explain(run){let samples=run.measurements?.figures({})?.samples??0,count=`${formatNumber(samples)} ${samples===1?"sample":"samples"}`;switch(run.status){case"queued":return run.queuePosition===void 0?"The run is waiting for its grids.":`The run is waiting for its turn: it is ${formatPosition(run.queuePosition)} in the queue.`;case"running":return samples===0?"The run has started; there are no samples yet.":`${count} so far.`;case"stopping":return`The run is being stopped; ${count} so far.`;case"problem":return run.problem??"The run failed.";case"finished":return samples===0?"No samples were recorded.":`${count} in ${formatElapsed(Math.round(lengthOf(run)/1e3))}.`}}var SO_FAR={passed:"holds so far",failed:"broken so far",warning:"broken so far",inconclusive:"not known yet"};function asSoFar(row){return{...row,verdict:SO_FAR[row.verdict]??row.verdict}}function leftToGate(line){return{threshold:line,actual:"\u2013",margin:"\u2013",verdict:"judged by the gate",reason:"It compares with a baseline, which only the gate knows.",ratio:null,side:"at",change:null}}function lengthOf({startedMs,stoppedMs,nowMs}){return startedMs===void 0?0:Math.max(0,(stoppedMs??nowMs)-startedMs)}function describeProgress(run){let{durationSeconds,startedMs,measurements}=run;return{elapsedMs:startedMs===void 0?null:lengthOf(run),durationMs:durationSeconds===void 0?null:durationSeconds*1e3,now:measurements?.series===void 0?null:describeNow(finishedPart(measurements.series))}}function finishedPart(series){let{bucketMs,...lists}=series;if(lists.atMs.length<2)return series;let cut=Object.entries(lists).map(([name,list])=>[name,list.slice(0,-1)]);return{bucketMs,...Object.fromEntries(cut)}}function describeNow({bucketMs,throughput,failures,p95Ms}){let points=Math.min(throughput.length,Math.ceil(WINDOW_MS/bucketMs)),sum=list=>list.slice(-points).reduce((all,one)=>all+one,0);return{windowMs:points*bucketMs,throughput:sum(throughput)/points,failures:sum(failures),bucketMs,p95Ms:p95Ms.at(-1)??null}}export{describeRun,renderDetourPage,renderListPage,renderLoginPage,renderRunList,renderRunPage};
