//! A gate in front of an API server: shut it refuses whoever connects, open it lets everything through, TLS and all.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// See the head of this file. It stands as long as this lives.
#[derive(Debug)]
pub(crate) struct Gate {
    address: SocketAddr,
    /// Bound and not listening: the port is ours, and the system refuses who connects to it.
    shut: Option<TcpSocket>,
    passing: Option<JoinHandle<()>>,
}

impl Gate {
    /// A gate that is shut.
    pub(crate) fn shut() -> Gate {
        let bound = || {
            let socket = TcpSocket::new_v4()?;
            socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
            Ok::<_, std::io::Error>((socket.local_addr()?, socket))
        };
        let (address, socket) = bound().unwrap_or_else(|error| panic!("no port for the gate: {error}"));
        Gate { address, shut: Some(socket), passing: None }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Opens it to the server on this port of loopback.
    pub(crate) fn open_to(&mut self, port: u16) {
        self.take_in(move |mut client| async move {
            if let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
                // Whoever hangs up first ends both; there is nobody to tell.
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        });
    }

    /// Takes everybody in, and never answers.
    pub(crate) fn hang(&mut self) {
        self.take_in(|client| async move {
            let _held = client;
            std::future::pending::<()>().await;
        });
    }

    fn take_in<F: Future<Output = ()> + Send + 'static>(&mut self, guest: impl Fn(TcpStream) -> F + Send + 'static) {
        let Some(socket) = self.shut.take() else { return };
        let door = socket.listen(1024).unwrap_or_else(|error| panic!("the gate does not open: {error}"));
        self.passing = Some(tokio::spawn(async move {
            let mut guests = tokio::task::JoinSet::new();
            while let Ok((client, _)) = door.accept().await {
                guests.spawn(guest(client));
            }
        }));
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if let Some(passing) = &self.passing {
            passing.abort();
        }
    }
}
