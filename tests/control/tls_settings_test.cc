// The settings of TLS as a program sees them: one PE, the public interface. FAULTS P1, P2, P3.
#include <gmock/gmock.h>
#include <stdlib.h>

#include "shmem.h"

namespace {

using testing::HasSubstr;

int start() {
  aclshmemx_init_attr_t attributes{};
  return aclshmemx_init_attr(&attributes, 0, nullptr);
}

class TlsSettings : public testing::Test {
 protected:
  void SetUp() override { setenv("SHMEM_JOB_SECRET", "a secret of the test, long enough", 1); }
  void TearDown() override { unsetenv("SHMEM_TLS"); }
};

TEST_F(TlsSettings, FaultP2_SettingItAfterInitIsAnErrorAndChangesNothing) {
  ASSERT_EQ(start(), 0);
  testing::internal::CaptureStderr();
  EXPECT_NE(aclshmemx_set_conf_store_tls(false, nullptr, 0), 0);
  EXPECT_NE(aclshmemx_set_config_store_tls_key("key", 3, nullptr, 0, nullptr), 0);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("TLS cannot be changed after init"));
  EXPECT_THAT(said, HasSubstr("the key of TLS cannot be set after init"));
  aclshmemx_tls_status_t status;
  ASSERT_EQ(aclshmemx_get_conf_store_tls_status(&status), 0);
  EXPECT_TRUE(status.enabled);
  EXPECT_STREQ(status.key_kind, "job secret");
  EXPECT_STREQ(status.source, "SHMEM_JOB_SECRET");
  EXPECT_EQ(status.certificate_expires, 0);
  EXPECT_NE(aclshmemx_get_conf_store_tls_status(nullptr), 0);
  EXPECT_EQ(aclshmem_finalize(), 0);
  // Still on in the next run.
  ASSERT_EQ(start(), 0);
  ASSERT_EQ(aclshmemx_get_conf_store_tls_status(&status), 0);
  EXPECT_TRUE(status.enabled);
  EXPECT_EQ(aclshmem_finalize(), 0);
}

TEST_F(TlsSettings, FaultP1_TheStatusNeedsAnInstance) {
  aclshmemx_tls_status_t status;
  EXPECT_EQ(aclshmemx_get_conf_store_tls_status(&status), ACLSHMEM_NOT_INITED);
}

TEST_F(TlsSettings, FaultP1_SwitchedOffIsSaid) {
  setenv("SHMEM_TLS", "0", 1);
  ASSERT_EQ(start(), 0);
  aclshmemx_tls_status_t status;
  ASSERT_EQ(aclshmemx_get_conf_store_tls_status(&status), 0);
  EXPECT_FALSE(status.enabled);
  EXPECT_EQ(aclshmem_finalize(), 0);
}

TEST_F(TlsSettings, FaultP3_AValueThatIsNoFlagIsAnErrorNeverOff) {
  for (const char* typo : {"yess", "", "2", "TRUE ", "none"}) {
    setenv("SHMEM_TLS", typo, 1);
    testing::internal::CaptureStderr();
    EXPECT_NE(start(), 0) << typo;
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("SHMEM_TLS")) << typo;
    EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
  }
}

// A key file that others can read, and a key without a certificate.
TEST_F(TlsSettings, FaultP3_HalfACertificateIsAnErrorNeverASecret) {
  setenv("SHMEM_TLS_KEY_FILE", "/nowhere/key.pem", 1);
  testing::internal::CaptureStderr();
  EXPECT_NE(start(), 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("SHMEM_TLS_KEY_FILE is set but no certificate is"));
  setenv("SHMEM_TLS_CONFIG", "tlsCaPath:/nowhere;tlsCaFile:ca.pem;tlsCert:/nowhere/pe.pem", 1);
  testing::internal::CaptureStderr();
  EXPECT_NE(start(), 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("/nowhere"));
  unsetenv("SHMEM_TLS_CONFIG");
  unsetenv("SHMEM_TLS_KEY_FILE");
}

}  // namespace
