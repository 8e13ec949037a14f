/** A document of OpenAPI 3.1 in which every kind of parameter, body and credential occurs. */
export function makeOpenApiDocument(serverUrl: string) {
  return {
    openapi: '3.1.0',
    info: { title: 'Pet shop', version: '1' },
    servers: [
      { url: '{address}/{base}', variables: { address: { default: serverUrl }, base: { default: 'v1/' } } },
    ],
    security: [{ token: [] }],
    paths: {
      '/pets/{petId}': {
        parameters: [
          { $ref: '#/components/parameters/PetId' },
          { name: 'verbose', in: 'query', schema: { type: 'string' } },
        ],
        get: {
          operationId: 'getPet',
          summary: 'One pet',
          description: 'Gives one pet with everything that is known of it.',
          parameters: [
            { name: 'verbose', in: 'query', schema: { type: 'boolean' } },
            { name: 'petId', in: 'query', schema: { type: 'string' } },
            { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
            { name: 'theme', in: 'cookie', schema: { type: 'string' } },
            { name: 'Accept', in: 'header', schema: { type: 'string' } },
          ],
        },
        put: { operationId: 'replacePet', requestBody: { $ref: '#/components/requestBodies/Pet' } },
        delete: { security: [{ user: [] }], description: 'Removes it.' },
      },
      '/pets': {
        get: {
          operationId: 'listPets',
          security: [{ key: [], session: [] }, {}],
          parameters: [
            { name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
            {
              name: 'ids',
              in: 'query',
              style: 'pipeDelimited',
              explode: false,
              schema: { type: 'array', items: { type: 'integer' } },
            },
            {
              name: 'filter',
              in: 'query',
              style: 'deepObject',
              explode: true,
              schema: { $ref: '#/components/schemas/Filter' },
            },
            { name: 'where', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
          ],
        },
        post: {
          operationId: 'uploadPets',
          requestBody: {
            required: true,
            content: {
              'multipart/form-data': {
                schema: {
                  type: 'object',
                  properties: { note: { type: 'string' }, file: { type: 'string', format: 'binary' } },
                  required: ['file'],
                },
                encoding: { file: { contentType: 'text/csv' } },
              },
            },
          },
        },
        patch: {
          operationId: 'searchPets',
          requestBody: {
            content: {
              'application/x-www-form-urlencoded': {
                schema: { type: 'object', properties: { text: { type: 'string' } } },
              },
            },
          },
        },
      },
    },
    components: {
      parameters: { PetId: { name: 'petId', in: 'path', required: true, schema: { type: 'integer' } } },
      requestBodies: {
        Pet: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
        },
      },
      schemas: {
        Filter: {
          type: 'object',
          properties: { color: { type: 'string' }, age: { $ref: '#/components/schemas/Range' } },
        },
        Range: {
          type: 'object',
          properties: { min: { type: 'number', exclusiveMinimum: 0 }, max: { type: 'number' } },
        },
        Pet: {
          type: 'object',
          required: ['id', 'name'],
          properties: {
            id: { type: 'integer', readOnly: true },
            name: { type: 'string', pattern: '^[a-z]+$', example: 'rex' },
            tag: { type: ['string', 'null'], 'x-order': 3 },
            parent: { $ref: '#/components/schemas/Pet', description: 'Its mother or father.' },
            born: { type: 'string', format: 'date' },
          },
        },
      },
      securitySchemes: {
        token: { type: 'oauth2', flows: {}, description: 'Ask the shop for one.' },
        key: { type: 'apiKey', in: 'query', name: 'api_key' },
        session: { type: 'apiKey', in: 'cookie', name: 'sid' },
        user: { type: 'http', scheme: 'basic' },
      },
    },
  }
}
