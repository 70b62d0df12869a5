/**
 * The stubs of tokencount.v1 for @grpc/grpc-js, and what a failed call carries. A convenience layer
 * over them will live beside this file.
 */
export * from "./gen/tokencount/v1/prompt.js";
export * from "./gen/tokencount/v1/token_counter_service.js";
export * from "./gen/tokencount/v1/usage.js";
export { errorDetails, type ErrorDetails } from "./errors.js";
