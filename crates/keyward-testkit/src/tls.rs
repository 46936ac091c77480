use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The certificates of one TLS server, made for it alone and gone with it.
#[derive(Clone, Debug)]
pub struct Certificates {
    folder: PathBuf,
}

impl Certificates {
    /// Makes an authority, and a certificate signed by it for the server and one for a client.
    pub(crate) fn make(folder: &Path) -> Self {
        let made = Self { folder: folder.to_owned() };
        made.openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
             -subj /CN=keyward-testkit -keyout ca.key -out ca.crt",
        );
        fs::write(folder.join("names"), "subjectAltName = DNS:localhost, IP:127.0.0.1\n")
            .expect("the server's folder is writable");
        for name in ["server", "client"] {
            made.openssl(&format!(
                "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
                 -subj /CN={name} -keyout {name}.key -out {name}.csr"
            ));
            made.openssl(&format!(
                "x509 -req -in {name}.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \
                 -extfile names -out {name}.crt"
            ));
        }
        made
    }

    /// The authority's certificate, which a client must trust.
    pub fn authority(&self) -> PathBuf {
        self.folder.join("ca.crt")
    }

    /// A client's certificate and its private key.
    pub fn client(&self) -> (PathBuf, PathBuf) {
        (self.folder.join("client.crt"), self.folder.join("client.key"))
    }

    /// The server's certificate and its private key.
    pub(crate) fn server(&self) -> (PathBuf, PathBuf) {
        (self.folder.join("server.crt"), self.folder.join("server.key"))
    }

    fn openssl(&self, args: &str) {
        let output = Command::new("openssl")
            .args(args.split_whitespace())
            .current_dir(&self.folder)
            .output()
            .expect("`openssl` is not on the PATH: run `./test tools`");
        assert!(
            output.status.success(),
            "`openssl {args}` failed\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
