/** The cases that all clients share, on a real server. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { credentials, status, type ServiceError } from "@grpc/grpc-js";

import {
  errorDetails,
  Format,
  Source,
  Status,
  TokenCounterServiceClient,
  type CountMessagesResponse,
  type EstimateConversationResponse,
  type ProviderRequest,
  type RecordActualResponse,
} from "../src/index.js";
import { startServer, type Server } from "./server.js";

interface Case {
  name: string;
  format: keyof typeof Format;
  model: string;
}

interface Conversation extends Case {
  body: unknown;
  reply: unknown;
  usage: unknown;
  billed_tokens: number;
  known_tokens: number;
  next_body: unknown;
}

interface Failure extends Case {
  call: "count" | "estimate";
  body_text: string;
  base64: string;
  code: keyof typeof status;
  reason: string;
  field: string;
}

const repository = fileURLToPath(new URL("../../../..", import.meta.url));
const table = JSON.parse(readFileSync(`${repository}/tests/cases/clients.json`, "utf8")) as {
  conversations: Conversation[];
  errors: Failure[];
};

let server: Server;
let client: TokenCounterServiceClient;

before(async () => {
  server = await startServer(repository);
  client = new TokenCounterServiceClient(server.address, credentials.createInsecure());
});

after(async () => {
  client.close();
  assert.equal(await server.stop(), 0);
});

describe("conversations", () => {
  for (const row of table.conversations) {
    it(row.name, async () => {
      const whole = prompt(row, JSON.stringify(row.body));
      const { count } = await countMessages(whole);
      assert.ok(count && 0 < count.tokens && count.tokens <= count.upperBound);
      assert.equal(count.source, Source.SOURCE_ESTIMATED);
      const estimated = await estimate(whole, Buffer.alloc(0));
      assert.ok(estimated.count?.prefixKey.length);
      const recorded = await record(whole, row);
      assert.ok(recorded.learned);
      assert.equal(recorded.billedTokens, row.billed_tokens);
      const next = prompt(row, JSON.stringify(row.next_body));
      const turn = (await estimate(next, recorded.prefixKey)).count;
      assert.equal(turn?.source, Source.SOURCE_DELTA);
      assert.ok(turn.knownTokens >= row.known_tokens);
      assert.equal(turn.newMessages, 1);
    });
  }
});

describe("errors", () => {
  for (const row of table.errors) {
    it(row.name, async () => {
      const body = prompt(row, row.body_text);
      const call =
        row.call === "count"
          ? countMessages(body)
          : estimate(body, Buffer.from(row.base64, "base64"));
      await assert.rejects(call, (error: ServiceError) => {
        assert.equal(error.code, status[row.code]);
        assert.deepEqual(errorDetails(error), { reason: row.reason, field: row.field });
        return true;
      });
    });
  }
});

function prompt(row: Case, body: string): ProviderRequest {
  return { format: Format[row.format], model: row.model, body: Buffer.from(body) };
}

function countMessages(providerRequest: ProviderRequest): Promise<CountMessagesResponse> {
  const request = {
    prompt: { $case: "providerRequest", value: providerRequest } as const,
    perMessage: false,
  };
  return answer((done) => client.countMessages(request, done));
}

function estimate(
  providerRequest: ProviderRequest,
  base: Buffer,
): Promise<EstimateConversationResponse> {
  const request = {
    prompt: { $case: "providerRequest", value: providerRequest } as const,
    base,
    perMessage: false,
  };
  return answer((done) => client.estimateConversation(request, done));
}

function record(
  providerRequest: ProviderRequest,
  row: Conversation,
): Promise<RecordActualResponse> {
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  const request = {
    prompt: { $case: "providerRequest", value: providerRequest } as const,
    base: Buffer.alloc(0),
    status: Status.STATUS_SUCCEEDED,
    bill: { $case: "usageJson", value: json(row.usage) } as const,
    reply: { content: { $case: "json", value: json(row.reply) } as const },
  };
  return answer((done) => client.recordActual(request, done));
}

type Done<T> = (error: ServiceError | null, response: T) => void;

function answer<T>(call: (done: Done<T>) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, response) => (error ? reject(error) : resolve(response)));
  });
}
