// Package openapi makes tools of the operations of OpenAPI documents (3.0 and 3.1): a service that describes its
// API needs nothing else.
//
// An operation is a tool when its document says so with x-orchet-tool: true. In a document that says nothing of
// the kind, it is one when the operator allows it by its operationId. The operationId is the tool's id; its
// parameters and the members of its body are the inputs, side by side, with what the schema demands of them.
//
// A document has a name: what stands before ".openapi" in its file's name, or before "=" in the list of
// documents, or the address' host. Variables that begin with OPENAPI_ and that name belong to the document:
//
//	OPENAPI_PETS_URL               another address of the service than the one in servers
//	OPENAPI_PETS_<SCHEME>_KEY      the key of a security scheme of type apiKey
//	OPENAPI_PETS_<SCHEME>_TOKEN    the token of one of type http bearer, oauth2 or openIdConnect
//	OPENAPI_PETS_<SCHEME>_USER, _PASSWORD              of type http basic
//	OPENAPI_PETS_<SCHEME>_CLIENT_ID, _CLIENT_SECRET    of type oauth2 with the client credentials flow
//
// A tool whose secrets are not set is there, but unavailable, and says which variable is missing. References to
// other documents are never followed: what they stand for takes any value.
//
// How a tool is called is kept by content in a Store: a run that was accepted before its document changed calls
// what it was accepted for.
package openapi
