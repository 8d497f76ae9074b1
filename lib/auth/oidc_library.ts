/**
 * The client of OpenID Connect, a script of its own in executables: only an API with a provider needs it.
 * @module
 */

export {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  discoveryRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  getValidatedIdTokenClaims,
  JWT_CLAIM_COMPARISON,
  JWT_TIMESTAMP_CHECK,
  KEY_SELECTION,
  None,
  OperationProcessingError,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processUserInfoResponse,
  ResponseBodyError,
  UnsupportedOperationError,
  userInfoRequest,
  validateApplicationLevelSignature,
  validateAuthResponse,
  WWWAuthenticateChallengeError,
} from "oauth4webapi";
