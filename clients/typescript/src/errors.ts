/** Reads the details that the server attaches to a failed call. */
import type { ServiceError } from "@grpc/grpc-js";

import { BadRequest, ErrorInfo, RpcStatus } from "./gen/tokencount/error_details.js";

/** Why a call failed. Both are empty if the failure isn't the service's own answer. */
export interface ErrorDetails {
  /** The ErrorReason without its prefix, such as "PREFIX_UNKNOWN". */
  reason: string;
  /** Path of the field that is wrong; empty if none is. */
  field: string;
}

/** The details of a failed call. Throws if the trailer isn't a google.rpc.Status. */
export function errorDetails(error: ServiceError): ErrorDetails {
  const found: ErrorDetails = { reason: "", field: "" };
  const trailer = error.metadata.get("grpc-status-details-bin")[0];
  if (!(trailer instanceof Uint8Array)) return found;
  for (const detail of RpcStatus.decode(trailer).details) {
    if (detail.typeUrl.endsWith("/google.rpc.ErrorInfo")) {
      found.reason = ErrorInfo.decode(detail.value).reason;
    } else if (detail.typeUrl.endsWith("/google.rpc.BadRequest")) {
      found.field = BadRequest.decode(detail.value).fieldViolations[0]?.field ?? "";
    }
  }
  return found;
}
