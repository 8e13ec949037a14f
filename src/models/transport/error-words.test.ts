import { describe, expect, test } from 'vitest'
import { CallFailure } from '../chat-completions/call-failure.ts'
import { modelError, readFailure } from './model-error.ts'
import { takesNoTools } from './tool-refusal.ts'

const model = { provider: 'openai-compatible', modelId: 'm-1' }

/** As a refusal by status, and as an error within a stream whose status is 200. */
function failures(status: number, error: object | string): unknown[] {
  const data = { error }
  const message = typeof error === 'string' ? error : String(Reflect.get(error, 'message'))
  const responseBody = JSON.stringify(data)
  return [
    new CallFailure(message, { statusCode: status, responseHeaders: {}, responseBody, data }),
    typeof error === 'string' ? { message: error } : error,
  ]
}

/** The sources of these wordings are listed in docs/models.md. */
const wordings: Record<string, [server: string, status: number, error: object | string][]> = {
  'The model "m-1" can\'t see images': [
    [
      'OpenAI',
      400,
      { message: 'Invalid content type. image_url is only supported by certain models.', code: null },
    ],
    ['OpenRouter', 404, { message: 'No endpoints found that support image input', code: 404 }],
    [
      'DeepSeek',
      400,
      {
        message:
          'Failed to deserialize the JSON body: messages[1]: unknown variant `image_url`, expected `text`',
      },
    ],
    [
      'Groq',
      400,
      {
        message:
          "'messages.1' : for 'role:user' the following must be satisfied[('messages.1.content' : value must be a string)]",
      },
    ],
    ['Groq', 400, { message: 'messages[1].content must be a string', type: 'invalid_request_error' }],
    ['vLLM', 400, { message: 'm-1 is not a multimodal model', type: 'BadRequestError', code: 400 }],
    ['vLLM', 400, { message: 'At most 0 image(s) may be provided in one prompt.', code: 400 }],
    [
      'llama.cpp',
      500,
      {
        message:
          'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
      },
    ],
    ['Ollama', 500, 'Failed to create new sequence: this model is missing data required for image input'],
    ['LM Studio', 400, 'Model does not support images. Please use a model that does.'],
    ['Mistral', 400, { message: 'Image input is not enabled for this model', type: 'invalid_request_error' }],
    [
      'Google',
      400,
      { message: 'Image input modality is not enabled for models/m-1', status: 'INVALID_ARGUMENT' },
    ],
    ['LlamaFactory', 400, { message: 'This model does not support image input.' }],
  ],
  'too long for the model "m-1"': [
    [
      'llama.cpp',
      400,
      {
        code: 400,
        message: 'request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it',
        type: 'exceed_context_size_error',
      },
    ],
    [
      'llama.cpp',
      400,
      {
        code: 400,
        message:
          'the request exceeds the available context size. try increasing the context size or enable context shift',
        type: 'invalid_request_error',
      },
    ],
    ['llama.cpp', 500, { code: 500, message: 'Context size has been exceeded.', type: 'server_error' }],
    [
      'llama.cpp',
      500,
      {
        code: 500,
        message: 'input is too large to process. increase the physical batch size',
        type: 'server_error',
      },
    ],
    [
      'llama-cpp-python',
      500,
      {
        message: 'Requested tokens (2285) exceed context window of 2048',
        type: 'internal_server_error',
        code: null,
      },
    ],
    [
      'Ollama',
      400,
      { message: 'the input length exceeds the context length', type: 'api_error', code: null },
    ],
    [
      'Ollama',
      400,
      { message: 'prompt too long; exceeded max context length by 812 tokens', type: 'api_error' },
    ],
    [
      'vLLM',
      400,
      {
        message:
          "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, 6048 in the completion). Please reduce the length of the messages or completion.",
        type: 'BadRequestError',
        code: 400,
      },
    ],
    [
      'vLLM',
      400,
      {
        message: 'The decoder prompt (length 41000) is longer than the maximum model length of 32768.',
        type: 'BadRequestError',
        code: 400,
      },
    ],
    [
      'vLLM',
      400,
      { message: 'max_tokens must be at least 1, got -186.', type: 'BadRequestError', code: 400 },
    ],
    [
      'LM Studio',
      400,
      'Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough.',
    ],
    [
      'LM Studio',
      400,
      'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input',
    ],
    ...[
      ['SGLang', "The input (5000 tokens) is longer than the model's context length (4096 tokens)."],
      [
        'TGI',
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 9 `max_new_tokens`',
      ],
      ['TGI', 'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000'],
      ['Cohere', 'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.'],
      ['Moonshot', 'Invalid request: Your request exceeded model token limit: 8192'],
      ['Zhipu', 'Prompt exceeds max length'],
      ['Fireworks', 'The prompt is too long: 5000, model maximum context length: 4096'],
      ['xAI', "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    ].map(([server = '', message]): [string, number, object] => [server, 422, { message, code: null }]),
    ['LM Studio', 400, 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)'],
    [
      'OpenRouter',
      400,
      {
        message:
          "This endpoint's maximum context length is 32768 tokens. However, you requested about 40210 tokens.",
        code: 400,
      },
    ],
    [
      'OpenRouter',
      400,
      {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: '{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
          provider_name: 'X',
        },
      },
    ],
    [
      'Azure',
      400,
      {
        message:
          "This model's maximum context length is 4097 tokens. However, your messages resulted in 6988 tokens.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    ],
    [
      'Groq',
      400,
      {
        message: 'Please reduce the length of the messages or completion.',
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    ],
    [
      'Groq',
      413,
      {
        message:
          'Request too large for model `m-1` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 9000',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    ],
    [
      'Mistral',
      400,
      {
        message:
          'Prompt contains 40193 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
        type: 'invalid_request_prompt',
        code: '3051',
      },
    ],
  ],
  'has no model "m-1"': [
    ['llama.cpp', 404, { code: 404, message: 'model not found', type: 'not_found_error' }],
    [
      'Ollama',
      404,
      { message: 'model "m-1" not found, try pulling it first', type: 'api_error', code: null },
    ],
    ['vLLM', 404, { message: 'The model `m-1` does not exist.', type: 'NotFoundError', code: 404 }],
    [
      'LM Studio',
      404,
      {
        message: "No models loaded. Please load a model in the developer page or use the 'lms load' command.",
        type: 'invalid_request_error',
        param: 'model',
        code: null,
      },
    ],
    [
      'LM Studio',
      400,
      {
        message: 'Invalid model identifier "m-1". Please specify a valid downloaded model',
        type: 'invalid_request_error',
        code: 'model_not_found',
      },
    ],
    ['OpenRouter', 400, { message: 'm-1 is not a valid model ID', code: 400 }],
    ['OpenRouter', 404, { message: 'No endpoints found for m-1.', code: 404 }],
    [
      'Azure',
      404,
      {
        code: 'DeploymentNotFound',
        message:
          'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
      },
    ],
    [
      'Groq',
      404,
      {
        message: 'The model `m-1` does not exist or you do not have access to it.',
        type: 'invalid_request_error',
        code: 'model_not_found',
      },
    ],
    [
      'Groq',
      400,
      {
        message: 'The model `m-1` has been decommissioned and is no longer supported.',
        type: 'invalid_request_error',
        code: 'model_decommissioned',
      },
    ],
    ['Mistral', 400, { message: 'Invalid model: m-1', type: 'invalid_model', code: '1500' }],
    [
      'DeepSeek',
      400,
      { message: 'Model Not Exist', type: 'invalid_request_error', code: 'invalid_request_error' },
    ],
    [
      'LiteLLM',
      400,
      {
        message:
          'Invalid model name passed in model=m-1. Call `/v1/models` to view available models for your key.',
        type: 'None',
        code: '400',
      },
    ],
  ],
  'takes no tools': [
    [
      'Ollama',
      400,
      {
        message: 'registry.ollama.ai/library/gemma:2b does not support tools',
        type: 'api_error',
        code: null,
      },
    ],
    [
      'OpenRouter',
      404,
      { message: 'No endpoints found that support tool use. Try disabling "browser".', code: 404 },
    ],
    [
      'OpenRouter',
      404,
      { message: "No endpoints found that support the provided 'tool_choice' value.", code: 404 },
    ],
    [
      'vLLM',
      400,
      {
        message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        type: 'BadRequestError',
        code: 400,
      },
    ],
    ['llama.cpp', 500, { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' }],
    [
      'llama.cpp',
      500,
      { code: 500, message: 'tool_choice param requires --jinja flag', type: 'server_error' },
    ],
    [
      'Groq',
      400,
      { message: '`tool calling` is not supported with this model', type: 'invalid_request_error' },
    ],
    [
      'Azure',
      400,
      {
        message:
          'tools is not supported in this model. For a list of supported models, refer to https://example.com',
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    ],
    [
      'Azure',
      400,
      {
        message: 'Unrecognized request arguments supplied: tool_choice, tools',
        type: 'invalid_request_error',
      },
    ],
    [
      'Azure',
      400,
      {
        message: "Unsupported parameter: 'tools' is not supported with this model.",
        type: 'invalid_request_error',
        code: 'unsupported_parameter',
      },
    ],
    [
      'Mistral',
      400,
      {
        message: 'Function calling is not enabled for this model',
        type: 'invalid_request_error',
        code: '3051',
      },
    ],
    [
      'DeepSeek',
      400,
      { message: 'deepseek-reasoner does not support Function Calling', type: 'invalid_request_error' },
    ],
    [
      'LiteLLM',
      400,
      {
        message:
          "litellm.UnsupportedParamsError: ollama does not support parameters: ['tools'], for model=m-1.",
        code: '400',
      },
    ],
  ],
  "meets the account's data policy": [
    [
      'OpenRouter',
      404,
      {
        message:
          'No endpoints found matching your data policy. Enable prompt training here: https://openrouter.ai/settings/privacy',
        code: 404,
      },
    ],
    [
      'OpenRouter',
      404,
      {
        message:
          'No endpoints available matching your guardrail restrictions and data policy. Configure: https://openrouter.ai/settings/privacy',
        code: 404,
      },
    ],
    ['OpenRouter', 404, { message: 'No allowed providers are available for the selected model.', code: 404 }],
    ['OpenRouter', 404, { message: 'All providers have been ignored.', code: 404 }],
    [
      'OpenRouter',
      502,
      { message: 'Paid model training violation (account settings): 1 endpoint excluded', code: 502 },
    ],
  ],
  'content filter': [
    [
      'Azure',
      400,
      {
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        type: null,
        code: 'content_filter',
        status: 400,
      },
    ],
    [
      'Azure',
      400,
      {
        message: 'Filtered.',
        code: 'x',
        status: 400,
        innererror: { code: 'ResponsibleAIPolicyViolation' },
        type: 'content_filter',
      },
    ],
    [
      'OpenRouter',
      403,
      { message: 'm-1 requires moderation. Your input was flagged for "violence".', code: 403 },
    ],
    ['DeepSeek', 400, { message: 'Content Exists Risk', type: 'invalid_request_error' }],
  ],
  'empty answer': [
    ['OpenRouter', 502, { message: 'No response returned from provider', code: 502 }],
    ['LiteLLM', 500, { message: 'The model returned an empty response', code: '500' }],
  ],
  'credit or quota is used up': [
    [
      'OpenRouter',
      402,
      { message: 'Insufficient credits. Add more using https://openrouter.ai/credits', code: 402 },
    ],
    ['DeepSeek', 402, { message: 'Insufficient Balance', type: 'unknown_error' }],
  ],
}

const rows = Object.entries(wordings).flatMap(([sentence, known]) =>
  known.map(([server, status, error]) => ({ sentence, server, status, error })),
)

test.each(rows)(
  '$server: $error is called "$sentence", and not sent again',
  ({ sentence, status, error }) => {
    for (const failure of failures(status, error)) {
      expect(modelError(failure, model).message).toContain(sentence)
      expect(readFailure(failure).retryable).toBe(false)
      expect(takesNoTools(failure)).toBe(sentence === 'takes no tools')
    }
  },
)

describe('what only resembles these', () => {
  test.each<[string, number, object, string]>([
    [
      'a rate limit on tokens',
      429,
      {
        message: 'Rate limit reached for model `m-1` on tokens per minute (TPM): Limit 6000',
        code: 'rate_limit_exceeded',
      },
      'is rate limiting',
    ],
    [
      'a tool that is wrong',
      400,
      { message: "Invalid schema for function 'f': 'x' is not valid", type: 'invalid_request_error' },
      'refused the request',
    ],
    [
      'another parameter',
      400,
      {
        message: "Unsupported parameter: 'max_tokens' is not supported with this model.",
        code: 'unsupported_parameter',
      },
      'refused the request',
    ],
    [
      'another path',
      404,
      { message: 'File Not Found', type: 'not_found_error', code: 404 },
      'no OpenAI-compatible API',
    ],
    ['a failure', 500, { message: 'Internal Server Error', code: 500 }, 'is failing'],
    ['overload', 503, { message: 'The model is overloaded, try again later', code: 503 }, 'is failing'],
  ])('%s', (_, status, error, words) => {
    for (const failure of failures(status, error)) expect(modelError(failure, model).message).toContain(words)
  })
})
