// Package httptools makes tools of files that describe a service's HTTP API as data: a new service without
// Go.
//
// A file is named like *.tool.yaml, *.tool.yml or *.tool.json and has two members, tool and http. tool is a definition as
// everywhere; http says how it is called; a third, example, may show an answer, which Check reads:
//
//	tool:
//	  toolId: clouds
//	  displayName: Cloud painter
//	  commandName: /clouds
//	  inputSchema:
//	    prompt: {type: string, required: true}
//	    size: {type: number, default: 512}
//	  outputSchema:
//	    image: {type: image}
//	  costingModel: {rate: 0.02, unit: request, rateSource: api}
//	  webhookStrategy:
//	    expectedStatusField: state
//	    successValue: done
//	    resultPath: [result, url]
//	    costPath: [credits]
//	    idPath: [id]
//	http:
//	  baseURL: https://api.clouds.example/v1
//	  headers: {Authorization: "Bearer ${CLOUDS_API_KEY}"}
//	  submit:
//	    method: POST
//	    path: /paint
//	    body: {text: "{{prompt}}", width: "{{size}}", webhook: "{{run.callback}}"}
//	  poll: {path: "/jobs/{{task.id}}"}
//	  cancel: {method: DELETE, path: "/jobs/{{task.id}}"}
//	  usdPerCost: "0.005"
//
// {{name}} stands for an input. A member of the body that consists of nothing else gets the value with its
// type, and is left out where there is none. Beside the inputs there are {{run.id}}, {{run.handle}} (the same
// whenever a run is sent again), {{run.callback}} and, once it is known, {{task.id}}, {{submitted.member}} of the answer to submit and
// {{polled.member}} of the answer that said that the run succeeded. Files go as data URIs, in base64, as addresses or as parts.
// ${NAME} stands for a secret of the environment; its name must end in _KEY, _TOKEN or _SECRET.
//
// Without poll a tool whose submit has {{run.callback}} waits for what is called back, read by the webhookStrategy; any
// other answers at once: the answer of submit is the result. docs/providers.md has every member.
package httptools
