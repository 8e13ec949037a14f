/** The clients of OpenAI's API that the door is built for, each behind the same few calls. */
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, isStepCount, jsonSchema, type LanguageModel, Output, streamText, tool } from 'ai'
import OpenAI from 'openai'

export interface Connection {
  baseURL: string
  apiKey: string
  /** An agent. */
  model: string
  /** How often a request is repeated; as the client does by itself unless given. */
  maxRetries?: number
}

interface Asked {
  signal?: AbortSignal
  /** Called with each piece of the answer. */
  onText?(): void
}

/** Texts of answers. Failures are thrown as the client throws them. */
export interface Client {
  plain(content: string, asked?: Asked): Promise<string>
  stream(content: string, asked?: Asked): Promise<string>
  /** Runs the client's own loop with the tool `weather`, which takes a `city`. */
  withTool(content: string, weather: (city: string) => string): Promise<string>
  /** Asks for `{city: string}`. */
  structured(content: string): Promise<unknown>
}

const citySchema = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
}
const description = 'Says what the weather is.'
const maxSteps = 6

function openAiChat({ model, ...connection }: Connection): Client {
  const client = new OpenAI(connection)
  const messages = (content: string) => [{ role: 'user' as const, content }]
  return {
    async plain(content, { signal } = {}) {
      const body = { model, messages: messages(content) }
      const answer = await client.chat.completions.create(body, signal && { signal })
      return answer.choices[0]?.message.content ?? ''
    },
    async stream(content, { signal, onText = () => {} } = {}) {
      const body = { model, messages: messages(content), stream: true as const }
      let text = ''
      for await (const chunk of await client.chat.completions.create(body, signal && { signal })) {
        const delta = chunk.choices[0]?.delta.content ?? ''
        text += delta
        if (delta !== '') onText()
      }
      signal?.throwIfAborted()
      return text
    },
    async withTool(content, weather) {
      const runner = client.chat.completions.runTools({
        model,
        messages: messages(content),
        tools: [
          {
            type: 'function',
            function: {
              name: 'weather',
              description,
              parameters: citySchema,
              parse: JSON.parse as (text: string) => { city: string },
              function: ({ city }: { city: string }) => weather(city),
            },
          },
        ],
      })
      return (await runner.finalContent()) ?? ''
    },
    async structured(content) {
      const answer = await client.chat.completions.parse({
        model,
        messages: messages(content),
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'place', strict: true, schema: citySchema },
        },
      })
      return JSON.parse(answer.choices[0]?.message.content ?? '')
    },
  }
}

function openAiResponses({ model, ...connection }: Connection): Client {
  const client = new OpenAI(connection)
  return {
    plain: async (input, { signal } = {}) =>
      (await client.responses.create({ model, input }, signal && { signal })).output_text,
    async stream(input, { signal, onText = () => {} } = {}) {
      let text = ''
      const body = { model, input, stream: true as const }
      for await (const event of await client.responses.create(body, signal && { signal })) {
        if (event.type !== 'response.output_text.delta') continue
        text += event.delta
        onText()
      }
      signal?.throwIfAborted()
      return text
    },
    async withTool(content, weather) {
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content }]
      const tools: OpenAI.Responses.Tool[] = [
        { type: 'function', name: 'weather', description, parameters: citySchema, strict: true },
      ]
      for (let step = 0; step < maxSteps; step += 1) {
        const answer = await client.responses.create({ model, input, tools })
        input.push(...(answer.output as OpenAI.Responses.ResponseInput))
        const calls = answer.output.filter(item => item.type === 'function_call')
        if (calls.length === 0) return answer.output_text
        for (const { call_id, arguments: given } of calls)
          input.push({ type: 'function_call_output', call_id, output: weather(JSON.parse(given).city) })
      }
      throw new Error('The model called the tool again and again.')
    },
    async structured(input) {
      const format = { type: 'json_schema' as const, name: 'place', strict: true, schema: citySchema }
      const answer = await client.responses.parse({ model, input, text: { format } })
      return JSON.parse(answer.output_text)
    },
  }
}

function aiSdk(model: LanguageModel, { maxRetries }: Connection): Client {
  const retries = maxRetries === undefined ? {} : { maxRetries }
  return {
    plain: async (prompt, { signal } = {}) =>
      (await generateText({ model, prompt, ...retries, ...(signal && { abortSignal: signal }) })).text,
    async stream(prompt, { signal, onText = () => {} } = {}) {
      let failure: unknown
      const { textStream } = streamText({
        model,
        prompt,
        ...(signal && { abortSignal: signal }),
        onError: ({ error }) => {
          failure = error
        },
      })
      let text = ''
      for await (const delta of textStream) {
        text += delta
        onText()
      }
      if (failure !== undefined) throw failure
      signal?.throwIfAborted()
      return text
    },
    async withTool(prompt, weather) {
      const { text } = await generateText({
        model,
        prompt,
        stopWhen: isStepCount(maxSteps),
        tools: {
          weather: tool({
            description,
            inputSchema: jsonSchema<{ city: string }>(citySchema),
            execute: async ({ city }) => weather(city),
          }),
        },
      })
      return text
    },
    structured: async prompt =>
      (await generateText({ model, prompt, output: Output.object({ schema: jsonSchema(citySchema) }) }))
        .output,
  }
}

function langChain({ baseURL, ...connection }: Connection): Client {
  const model = new ChatOpenAI({ ...connection, configuration: { baseURL } })
  return {
    plain: async (content, { signal } = {}) => (await model.invoke(content, signal && { signal })).text,
    async stream(content, { signal, onText = () => {} } = {}) {
      let text = ''
      for await (const chunk of await model.stream(content, signal && { signal })) {
        text += chunk.text
        if (chunk.text !== '') onText()
      }
      return text
    },
    async withTool(content, weather) {
      const tools = [
        { type: 'function' as const, function: { name: 'weather', description, parameters: citySchema } },
      ]
      const bound = model.bindTools(tools)
      const messages: BaseMessage[] = [new HumanMessage(content)]
      for (let step = 0; step < maxSteps; step += 1) {
        const answer = await bound.invoke(messages)
        messages.push(answer)
        if (!answer.tool_calls?.length) return answer.text
        for (const { id = '', args } of answer.tool_calls)
          messages.push(new ToolMessage({ content: weather(args.city), tool_call_id: id }))
      }
      throw new Error('The model called the tool again and again.')
    },
    structured: content =>
      model.withStructuredOutput(citySchema, { name: 'place', method: 'jsonSchema' }).invoke(content),
  }
}

/** By the names and APIs of the packages. */
export const openAiClients: Record<string, (connection: Connection) => Client> = {
  'openai, chat completions': openAiChat,
  'openai, responses': openAiResponses,
  'AI SDK, openai': of => aiSdk(createOpenAI(of)(of.model), of),
  'AI SDK, openai.chat': of => aiSdk(createOpenAI(of).chat(of.model), of),
  'AI SDK, openai-compatible': of =>
    aiSdk(
      createOpenAICompatible({ name: 'agentstead', supportsStructuredOutputs: true, ...of })(of.model),
      of,
    ),
  LangChain: langChain,
}
