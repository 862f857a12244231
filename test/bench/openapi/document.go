package main

import (
	"bytes"
	"fmt"
)

// perSchema is how many operations share a schema of the components, as in documents of real services.
const perSchema = 20

// describe writes a document: half of its operations read with parameters, half write an object of a shared schema.
func describe(operations int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"openapi":"3.0.3","info":{"title":"Bench","version":"1"},"servers":[{"url":"https://api.example.com/v1"}],"paths":{`)
	for i := range operations {
		if i > 0 {
			b.WriteByte(',')
		}
		if i%2 == 0 {
			fmt.Fprintf(&b, `"/things%d/{id}":{"get":{"operationId":"getThing%d","summary":"Get thing %d","tags":["things"],"parameters":[`+
				`{"name":"id","in":"path","required":true,"description":"Which","schema":{"type":"string"}},`+
				`{"name":"limit","in":"query","description":"How many","schema":{"type":"integer","minimum":1,"maximum":100,"default":20}},`+
				`{"name":"sort","in":"query","description":"Order","schema":{"type":"string","enum":["up","down"]}}],`+
				`"responses":{"200":{"description":"The thing","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing%d"}}}}}}}`, i, i, i, i/perSchema)
			continue
		}
		fmt.Fprintf(&b, `"/things%d":{"post":{"operationId":"putThing%d","summary":"Write thing %d","description":"Writes one thing.","requestBody":{"required":true,`+
			`"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing%d"}}}},"responses":{"201":{"description":"Written"}}}}`, i, i, i, i/perSchema)
	}
	b.WriteString(`},"components":{"schemas":{"Place":{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"street":{"type":"string"}}}`)
	for i := range operations/perSchema + 1 {
		fmt.Fprintf(&b, `,"Thing%d":{"type":"object","required":["name","size"],"properties":{"name":{"type":"string","description":"Name","minLength":1,"maxLength":80},`+
			`"size":{"type":"number","description":"Size","minimum":0},"active":{"type":"boolean","description":"Whether it is in use","default":true},`+
			`"labels":{"type":"array","description":"Labels","items":{"type":"string"}},"place":{"$ref":"#/components/schemas/Place"},`+
			`"parent":{"$ref":"#/components/schemas/Thing%d"}}}`, i, i)
	}
	b.WriteString(`}}}`)
	return b.Bytes()
}
